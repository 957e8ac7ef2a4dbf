-- Vends that were withdrawn stay so: their reversals are in the books, and the checks of the release before report them.
DROP FUNCTION withdraw_unmatched_vends;

CREATE OR REPLACE FUNCTION moves_beside_wallets(after_entry bigint, until_entry bigint)
RETURNS TABLE (account_id bigint, organisation_id bigint, kind text, provider_code text, product text, moves bigint, amount bigint)
LANGUAGE sql STABLE
SET search_path = pg_catalog, public, pg_temp SET enable_hashjoin = off SET enable_mergejoin = off AS $$
    SELECT s.account_id, p.organisation_id, e.kind, coalesce(p.provider_code, u.provider_code, o.provider_code, ''),
        coalesce(p.product, u.product, ''), count(*), sum(s.amount)::bigint
    FROM journal_entries e
    JOIN postings m ON m.entry_id = e.id
    CROSS JOIN LATERAL (VALUES (m.credit_account_id, m.amount), (m.debit_account_id, -m.amount)) AS s (account_id, amount)
    LEFT JOIN purchases p ON p.id = e.purchase_id
    LEFT JOIN unmatched_vends u ON e.kind = 'UNMATCHED_VEND' AND u.entry_id = e.id
    LEFT JOIN payouts o ON e.kind = 'PAYOUT' AND o.entry_id = e.id
    WHERE e.kind NOT IN ('SETTLE', 'TOP_UP', 'ADJUST') AND e.id > after_entry AND e.id <= until_entry
    GROUP BY 1, 2, 3, 4, 5
$$;

CREATE OR REPLACE FUNCTION number_unmatched_vend() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF EXISTS (
        SELECT FROM attempts a
        WHERE a.provider_code = NEW.provider_code AND a.provider_reference = NEW.provider_reference
    ) THEN
        RAISE EXCEPTION 'the order % of % is known', NEW.provider_reference, NEW.provider_code
            USING ERRCODE = 'check_violation', CONSTRAINT = 'unmatched_vends_are_unknown';
    END IF;
    NEW.entry_id := nextval('journal_entry_ids');
    NEW.entered_at := clock_timestamp();
    RETURN NEW;
END
$$;
