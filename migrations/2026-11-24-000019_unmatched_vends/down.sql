-- Refused by the constraint below once a vend was entered: its entry stays in the books.
DROP TABLE unmatched_vend_decisions;
DROP TABLE unmatched_vends;
DROP FUNCTION check_charged_vends, post_unmatched_vends, number_unmatched_vend;
DROP SEQUENCE unmatched_vend_ids;
ALTER TABLE journal_entries
    DROP CONSTRAINT journal_entries_kind_check,
    ADD CONSTRAINT journal_entries_kind_check CHECK (kind IN ('SETTLE', 'TOP_UP', 'ADJUST', 'INCIDENT'));
