ALTER TABLE purchases DROP COLUMN source_tag;
