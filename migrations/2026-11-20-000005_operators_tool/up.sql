-- What the operator's tool asks of the database: that a payment is posted once however often its command is
-- entered, that a page of a statement costs a page, and that a replaced password ends what it opened.

-- The operator's own name for a payment: a bank's reference, the number of a ticket. One payment each, for ever.
ALTER TABLE journal_entries
    ADD COLUMN reference text CHECK (reference ~ '^[!-~]{1,64}$'),
    ADD CONSTRAINT journal_entries_reference_of_payment CHECK (reference IS NULL OR kind IN ('TOP_UP', 'ADJUST'));
CREATE UNIQUE INDEX journal_entries_one_per_reference ON journal_entries (reference) WHERE reference IS NOT NULL;

-- As many indexes as before; each now also finds the newest postings of an account.
DROP INDEX postings_by_debit;
DROP INDEX postings_by_credit;
CREATE INDEX postings_by_debit ON postings (debit_account_id, entry_id);
CREATE INDEX postings_by_credit ON postings (credit_account_id, entry_id);

CREATE INDEX audit_log_at ON audit_log (at);

ALTER TABLE token_families
    DROP CONSTRAINT token_families_revoked_because_check,
    ADD CONSTRAINT token_families_revoked_because_check
        CHECK (revoked_because IN ('REFRESH_TOKEN_REUSED', 'SECRET_REVOKED', 'PASSWORD_REPLACED'));
