DROP INDEX purchases_for_retry;
CREATE INDEX purchases_for_retry
    ON purchases (organisation_id, subscriber_identifier, external_reference, reserved_no)
    WHERE external_reference IS NOT NULL;
DROP INDEX purchases_failed;
DROP INDEX purchases_by_reference;
DROP INDEX purchases_by_time;
DROP TABLE allowed_subscribers, default_providers, product_texts;
DROP FUNCTION refuse_a_long_allow_list;
