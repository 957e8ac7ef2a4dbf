ALTER TABLE organisations DROP COLUMN receipt_footer;
