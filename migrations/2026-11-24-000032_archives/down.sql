DROP FUNCTION remove_archived, archived_history;

CREATE OR REPLACE FUNCTION refuse_to_rewrite_history() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (tg_op, tg_table_name) IN (('UPDATE', 'incidents'), ('UPDATE', 'unmatched_vends'), ('DELETE', 'provider_replies'))
        AND erasure_is_under_way()
    THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION '% is append-only', tg_table_name USING ERRCODE = 'restrict_violation';
END
$$;

CREATE OR REPLACE FUNCTION refuse_to_reopen() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    was purchases := OLD;
BEGIN
    IF erasure_is_under_way() THEN
        IF NEW.personal_data_erased_at IS NOT NULL THEN
            IF OLD.product = 'AIRTIME' THEN
                was.subscriber_identifier := NEW.subscriber_identifier;
            END IF;
            was.beneficiary_phone_number := 'erased';
            was.comment := NULL;
            was.subscriber_details := NULL;
            was.vend_subscriber_details := NULL;
            was.failure_wording := NULL;
            was.request_hash := NEW.request_hash;
            was.personal_data_erased_at := NEW.personal_data_erased_at;
        END IF;
        IF NEW.sealed_values_erased_at IS NOT NULL THEN
            was.sealed_token := NULL;
            was.token_key_id := NULL;
            was.sealed_values_erased_at := NEW.sealed_values_erased_at;
        END IF;
        IF was IS NOT DISTINCT FROM NEW THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'purchase % has ended', OLD.id USING ERRCODE = 'restrict_violation';
END
$$;

CREATE OR REPLACE FUNCTION settle_purchases() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM changed
        WHERE ended_at IS NOT NULL AND personal_data_erased_at IS NULL AND sealed_values_erased_at IS NULL
    ) THEN
        RETURN NULL;
    END IF;

    UPDATE accounts a SET held = a.held - h.total
    FROM (
        SELECT account_id, sum(total)::bigint AS total FROM changed
        WHERE ended_at IS NOT NULL AND personal_data_erased_at IS NULL AND sealed_values_erased_at IS NULL
        GROUP BY account_id
    ) AS h
    WHERE a.id = h.account_id;

    WITH entry AS MATERIALIZED (
        SELECT nextval('journal_entry_ids') AS entry_id, p.id, p.account_id, p.commission_account_id, p.currency, p.net,
            p.charge, p.commission
        FROM changed p
        WHERE p.state = 'SUCCESSFUL' AND p.personal_data_erased_at IS NULL AND p.sealed_values_erased_at IS NULL
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

ALTER TABLE purchases DROP CONSTRAINT purchases_archive_after_their_end, DROP COLUMN archive_id;
DROP TABLE archives;
