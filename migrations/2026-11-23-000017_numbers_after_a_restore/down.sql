DROP FUNCTION take_purchase_ids;
DROP FUNCTION skip_purchase_numbers;
DROP TABLE purchase_numbers;
DROP FUNCTION cluster_and_timeline;
