-- Refused by the constraints below once there was a payout: its entry stays in the books.
REVOKE SELECT ON reversals FROM vendgate_worker;
DROP TABLE payouts;
ALTER TABLE journal_entries
    DROP CONSTRAINT journal_entries_kind_check,
    ADD CONSTRAINT journal_entries_kind_check
        CHECK (kind IN ('SETTLE', 'TOP_UP', 'ADJUST', 'INCIDENT', 'UNMATCHED_VEND')),
    DROP CONSTRAINT journal_entries_reference_of_payment,
    ADD CONSTRAINT journal_entries_reference_of_payment CHECK (reference IS NULL OR kind IN ('TOP_UP', 'ADJUST'));
