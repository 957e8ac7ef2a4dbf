DROP TRIGGER accounts_tell_feed_when_low ON accounts;
DROP TRIGGER purchases_tell_feed_of_doubt ON purchases;

CREATE OR REPLACE FUNCTION hold_for_purchases() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    refused bigint;
BEGIN
    SELECT p.id INTO refused
    FROM reserved p
    LEFT JOIN accounts w ON w.id = p.account_id
    LEFT JOIN accounts c ON c.id = p.commission_account_id
    LEFT JOIN offers o ON o.organisation_id = p.organisation_id AND o.product = p.product
        AND o.provider_code = p.provider_code AND o.currency = p.currency
    WHERE (
        p.state = 'IN_FLIGHT'
        AND w.organisation_id = p.organisation_id AND w.currency = p.currency
        AND w.status = 'ACTIVE' AND w.category IN ('CURRENT', 'TOPUP')
        AND (p.commission_account_id IS NULL
            OR c.organisation_id = p.organisation_id AND c.currency = p.currency AND c.category = 'COMMISSION')
        AND p.commission <= round(p.net * coalesce(greatest(o.commission_rate,
            CASE WHEN o.commission_rate_since > now() - interval '1 minute' THEN o.former_commission_rate END), 0))
    ) IS NOT TRUE
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'purchase % is not as a reserve leaves it', refused
            USING ERRCODE = 'check_violation', CONSTRAINT = 'purchases_begin_as_reserved';
    END IF;

    UPDATE accounts a SET held = a.held + h.total
    FROM (SELECT account_id, sum(total)::bigint AS total FROM reserved GROUP BY account_id) AS h
    WHERE a.id = h.account_id;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION settle_purchases() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM changed
        WHERE ended_at IS NOT NULL AND num_nonnulls(personal_data_erased_at, sealed_values_erased_at, archive_id) = 0
    ) THEN
        RETURN NULL;
    END IF;

    UPDATE accounts a SET held = a.held - h.total
    FROM (
        SELECT account_id, sum(total)::bigint AS total FROM changed
        WHERE ended_at IS NOT NULL AND num_nonnulls(personal_data_erased_at, sealed_values_erased_at, archive_id) = 0
        GROUP BY account_id
    ) AS h
    WHERE a.id = h.account_id;

    WITH entry AS MATERIALIZED (
        SELECT nextval('journal_entry_ids') AS entry_id, p.id, p.account_id, p.commission_account_id, p.currency, p.net,
            p.charge, p.commission
        FROM changed p
        WHERE p.state = 'SUCCESSFUL' AND num_nonnulls(p.personal_data_erased_at, p.sealed_values_erased_at, p.archive_id) = 0
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

CREATE OR REPLACE FUNCTION post_payment(wallet bigint, kind text, against text, takes boolean, minor bigint, reference text, actor text,
    reason text, OUT entry_id bigint, OUT entry_posted_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    account accounts;
    house_id bigint;
    line bigint;
BEGIN
    SELECT a.* INTO account FROM accounts a WHERE a.id = wallet AND a.house IS NULL FOR NO KEY UPDATE;
    SELECT h.id INTO house_id FROM accounts h WHERE h.house = against AND h.currency = account.currency;
    IF (
        account.status = 'ACTIVE' AND kind = 'TOP_UP' AND NOT takes AND against = 'FUNDING'
        OR account.status IN ('ACTIVE', 'SUSPENDED') AND kind = 'ADJUST' AND against IN ('FUNDING', 'SUSPENSE')
    ) IS NOT TRUE THEN
        RAISE EXCEPTION 'account % takes no such payment', wallet
            USING ERRCODE = 'check_violation', CONSTRAINT = 'payments_are_of_known_kinds';
    END IF;

    entry_id := nextval('journal_entry_ids');
    entry_posted_at := clock_timestamp();
    INSERT INTO audit_log (actor, action, organisation_id, subject, reason, details)
    VALUES (actor, CASE kind WHEN 'TOP_UP' THEN 'account.topped_up' ELSE 'account.adjusted' END, account.organisation_id,
        'account:' || wallet, reason, jsonb_build_object('amount', format('%s %s%s.%s', account.currency,
            CASE WHEN takes THEN '-' ELSE '' END, minor / 100, lpad((minor % 100)::text, 2, '0')),
            'against', against, 'entry', entry_id, 'reference', reference))
    RETURNING id INTO line;
    INSERT INTO journal_entries (id, kind, reason, reference, posted_at, audit_id)
    VALUES (entry_id, kind, reason, reference, entry_posted_at, line);
    INSERT INTO postings (entry_id, debit_account_id, credit_account_id, currency, amount)
    VALUES (entry_id, CASE WHEN takes THEN wallet ELSE house_id END, CASE WHEN takes THEN house_id ELSE wallet END,
        account.currency, minor);
END
$$;

REVOKE SELECT (id) ON organisations FROM vendgate_worker;
DROP FUNCTION delete_old_events, tell_feed_of_expiring_secrets, tell_feed_of_low_wallet, tell_feed_of_doubt, money_text, tell_feed,
    number_feed_here;
ALTER TABLE client_secrets DROP COLUMN expiry_told;
ALTER TABLE accounts DROP COLUMN low_balance;
DROP TABLE feed_deletions, feed_events, feed_numbering;
