-- Refused once a token was erased: the purchase stays without it.
DROP FUNCTION erase_person, apply_retention, erase_from_unmatched_vends, erase_from_purchases;
DROP TABLE retention_progress;

CREATE OR REPLACE FUNCTION refuse_to_rewrite_history() RETURNS trigger LANGUAGE plpgsql SECURITY INVOKER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', tg_table_name USING ERRCODE = 'restrict_violation';
END
$$;

CREATE OR REPLACE FUNCTION refuse_to_reopen() RETURNS trigger LANGUAGE plpgsql SECURITY INVOKER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'purchase % has ended', OLD.id USING ERRCODE = 'restrict_violation';
END
$$;

CREATE OR REPLACE FUNCTION settle_purchases() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM changed WHERE ended_at IS NOT NULL) THEN
        RETURN NULL;
    END IF;

    UPDATE accounts a SET held = a.held - h.total
    FROM (
        SELECT account_id, sum(total)::bigint AS total FROM changed WHERE ended_at IS NOT NULL GROUP BY account_id
    ) AS h
    WHERE a.id = h.account_id;

    WITH entry AS MATERIALIZED (
        SELECT nextval('journal_entry_ids') AS entry_id, p.id, p.account_id, p.commission_account_id, p.currency, p.net,
            p.charge, p.commission
        FROM changed p WHERE p.state = 'SUCCESSFUL'
    ), written AS (
        INSERT INTO journal_entries (id, kind, purchase_id, posted_at)
        SELECT entry_id, 'SETTLE', id, clock_timestamp() FROM entry
    )
    INSERT INTO postings (entry_id, debit_account_id, credit_account_id, currency, amount)
    SELECT e.entry_id, m.debit, m.credit, e.currency, m.amount
    FROM entry e
    LEFT JOIN accounts payable ON payable.house = 'PROVIDER_PAYABLE' AND payable.currency = e.currency
    LEFT JOIN accounts income ON income.house = 'FEE_INCOME' AND income.currency = e.currency
    LEFT JOIN accounts expense ON expense.house = 'COMMISSION_EXPENSE' AND expense.currency = e.currency
    CROSS JOIN LATERAL (VALUES
        (e.account_id, payable.id, e.net),
        (e.account_id, income.id, e.charge),
        (expense.id, e.commission_account_id, e.commission)
    ) AS m (debit, credit, amount)
    WHERE m.amount > 0;
    RETURN NULL;
END
$$;

DROP FUNCTION pseudonym, erasure_is_under_way;
DROP TABLE pseudonym_keys, erasures_under_way;

ALTER TABLE purchases
    DROP CONSTRAINT purchases_electricity_has_its_token,
    DROP CONSTRAINT purchases_erase_after_their_end,
    ADD CONSTRAINT purchases_check9
        CHECK (NOT (state = 'SUCCESSFUL' AND product = 'ELECTRICITY') OR sealed_token IS NOT NULL),
    DROP COLUMN sealed_values_erased_at,
    DROP COLUMN personal_data_erased_at;
