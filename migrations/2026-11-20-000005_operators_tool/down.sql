-- What a replaced password ended stays ended, under the nearest reason that was known before.
UPDATE token_families SET revoked_because = 'SECRET_REVOKED' WHERE revoked_because = 'PASSWORD_REPLACED';
ALTER TABLE token_families
    DROP CONSTRAINT token_families_revoked_because_check,
    ADD CONSTRAINT token_families_revoked_because_check
        CHECK (revoked_because IN ('REFRESH_TOKEN_REUSED', 'SECRET_REVOKED'));
DROP INDEX audit_log_at;
DROP INDEX postings_by_debit;
DROP INDEX postings_by_credit;
CREATE INDEX postings_by_debit ON postings (debit_account_id);
CREATE INDEX postings_by_credit ON postings (credit_account_id);
ALTER TABLE journal_entries DROP COLUMN reference;
