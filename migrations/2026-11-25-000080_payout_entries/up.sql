-- Expand. What the operator pays out is posted: to a provider, as fees to itself, and commission to an integrator. A payout between
-- system accounts is an entry of a kind of its own. That of commission takes money out of a wallet, so it stays a correction, which the
-- programs of the release before can read in statements.
ALTER TABLE journal_entries
    DROP CONSTRAINT journal_entries_kind_check,
    ADD CONSTRAINT journal_entries_kind_check
        CHECK (kind IN ('SETTLE', 'TOP_UP', 'ADJUST', 'INCIDENT', 'UNMATCHED_VEND', 'PAYOUT')) NOT VALID,
    DROP CONSTRAINT journal_entries_reference_of_payment,
    ADD CONSTRAINT journal_entries_reference_of_payment
        CHECK (reference IS NULL OR kind IN ('TOP_UP', 'ADJUST', 'PAYOUT')) NOT VALID;

CREATE TABLE payouts (
    entry_id      bigint PRIMARY KEY,
    kind          text NOT NULL CHECK (kind IN ('PROVIDER', 'FEES', 'COMMISSION')),
    provider_code text REFERENCES providers (code),
    -- Its line in the audit log.
    audit_id      bigint NOT NULL UNIQUE,
    CHECK ((kind = 'PROVIDER') = (provider_code IS NOT NULL))
);
CREATE INDEX payouts_of_provider ON payouts (provider_code);
CREATE TRIGGER payouts_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON payouts
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();
GRANT SELECT ON payouts TO vendgate_worker, vendgate_operator;
GRANT SELECT ON reversals TO vendgate_worker;
