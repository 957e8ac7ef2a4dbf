DROP FUNCTION kept_sums_of_wallets;
CREATE OR REPLACE FUNCTION moves_of_wallets(since timestamptz, until timestamptz)
RETURNS TABLE (account_id bigint, organisation_id bigint, is_commission boolean, kind text, is_payout boolean, provider_code text,
    product text, moves bigint, amount bigint)
LANGUAGE sql STABLE
SET search_path = pg_catalog, public, pg_temp SET enable_hashjoin = off SET enable_mergejoin = off AS $$
    SELECT m.other, w.organisation_id, w.category = 'COMMISSION', e.kind, o.entry_id IS NOT NULL, coalesce(p.provider_code, ''),
        coalesce(p.product, ''), count(*), sum(m.amount)::bigint
    FROM accounts w
    LEFT JOIN cutoffs b ON b.account_id = w.id AND b.at = since
    LEFT JOIN cutoffs c ON c.account_id = w.id AND c.at = until
    CROSS JOIN LATERAL (VALUES (
        CASE WHEN w.created_at < since THEN b.entry_id ELSE 0 END,
        CASE WHEN until IS NULL THEN 9223372036854775807 ELSE c.entry_id END
    )) AS r (after_entry, until_entry)
    CROSS JOIN LATERAL (
        (SELECT d.credit_account_id AS other, d.entry_id, d.amount FROM postings d
         WHERE (d.debit_account_id, d.entry_id) > (w.id, r.after_entry) AND d.debit_account_id <= w.id
             AND d.entry_id <= r.until_entry
         ORDER BY d.debit_account_id, d.entry_id)
        UNION ALL
        (SELECT d.debit_account_id, d.entry_id, -d.amount FROM postings d
         WHERE (d.credit_account_id, d.entry_id) > (w.id, r.after_entry) AND d.credit_account_id <= w.id
             AND d.entry_id <= r.until_entry
         ORDER BY d.credit_account_id, d.entry_id)
    ) AS m
    JOIN journal_entries e ON e.id = m.entry_id
    LEFT JOIN purchases p ON p.id = e.purchase_id
    LEFT JOIN reversals v ON e.kind = 'ADJUST' AND v.reversed_by = e.id
    LEFT JOIN payouts o ON e.kind = 'ADJUST' AND o.entry_id = coalesce(v.entry_id, e.id)
    WHERE w.house IS NULL AND (until IS NULL OR w.created_at < until)
    GROUP BY 1, 2, 3, 4, 5, 6, 7
$$;

CREATE OR REPLACE FUNCTION strike_trial_balance(moment timestamptz, entries_max bigint, OUT is_made boolean, OUT is_far boolean,
    OUT since timestamptz)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    base trial_balances;
    later trial_balances;
    wallets bigint;
    last_entry bigint;
    first_after bigint;
    last_before bigint;
    of_accounts bigint[];
    of_providers text[];
    of_amounts bigint[];
    of_staging bigint[];
BEGIN
    is_made := EXISTS (SELECT FROM trial_balances t WHERE t.at = moment);
    is_far := false;
    IF is_made OR moment > clock_timestamp() THEN
        RETURN;
    END IF;
    SELECT * INTO base FROM trial_balances t WHERE t.at < moment ORDER BY t.at DESC LIMIT 1;
    since := coalesce(base.at, (SELECT e.posted_at FROM journal_entries e ORDER BY e.id LIMIT 1));

    SELECT count(c.account_id), greatest(max(c.entry_id), base.last_entry, 0) INTO wallets, last_entry
    FROM accounts a JOIN cutoffs c ON c.account_id = a.id AND c.at = moment
    WHERE a.house IS NULL AND a.created_at < moment;
    IF wallets <> (SELECT count(*) FROM accounts a WHERE a.house IS NULL AND a.created_at < moment) THEN
        RETURN;
    END IF;
    is_far := last_entry - coalesce(base.last_entry, 0) > entries_max AND moment - since > interval '1 second';
    IF is_far THEN
        RETURN;
    END IF;

    SELECT array_agg(s.account_id), array_agg(s.provider_code), array_agg(s.amount), array_agg(s.staging)
    INTO of_accounts, of_providers, of_amounts, of_staging
    FROM (
        SELECT m.account_id, CASE h.house WHEN 'PROVIDER_PAYABLE' THEN m.provider_code ELSE '' END AS provider_code,
            sum(m.amount)::bigint AS amount,
            coalesce(sum(m.amount) FILTER (WHERE o.environment = 'STAGING'), 0)::bigint AS staging
        FROM moves_of_wallets(base.at, moment) m
        JOIN accounts h ON h.id = m.account_id
        JOIN organisations o ON o.id = m.organisation_id
        GROUP BY 1, 2
    ) s;

    -- It is not waited for, so that those that share the lock never queue behind it.
    IF NOT pg_try_advisory_xact_lock(hashtextextended('vendgate.trial_balances', 0)) THEN
        RETURN;
    END IF;
    is_made := EXISTS (SELECT FROM trial_balances t WHERE t.at = moment);
    IF is_made OR wallets <> (SELECT count(*) FROM accounts a WHERE a.house IS NULL AND a.created_at < moment) THEN
        RETURN;
    END IF;
    SELECT * INTO later FROM trial_balances t WHERE t.at > moment ORDER BY t.at LIMIT 1;
    SELECT min(e.id) INTO first_after FROM journal_entries e
    WHERE e.kind NOT IN ('SETTLE', 'TOP_UP', 'ADJUST') AND e.id > coalesce(base.entry_id, 0)
        AND e.id <= coalesce(later.entry_id, 9223372036854775807) AND e.posted_at >= moment;
    SELECT max(e.id) INTO last_before FROM journal_entries e
    WHERE e.kind NOT IN ('SETTLE', 'TOP_UP', 'ADJUST') AND e.id > coalesce(base.entry_id, 0)
        AND e.id <= coalesce(later.entry_id, 9223372036854775807) AND (e.id < first_after) IS NOT FALSE;
    last_before := coalesce(last_before, base.entry_id, 0);

    INSERT INTO trial_balances (at, entry_id, last_entry) VALUES (moment, last_before, last_entry);
    INSERT INTO trial_balance_lines (at, account_id, provider_code, balance, staging)
    SELECT moment, s.account_id, s.provider_code, sum(s.amount)::bigint, sum(s.staging)::bigint
    FROM (
        SELECT l.account_id, l.provider_code, l.balance AS amount, l.staging FROM trial_balance_lines l WHERE l.at = base.at
        UNION ALL
        SELECT * FROM unnest(of_accounts, of_providers, of_amounts, of_staging)
        UNION ALL
        SELECT m.account_id, CASE h.house WHEN 'PROVIDER_PAYABLE' THEN m.provider_code ELSE '' END, m.amount,
            CASE o.environment WHEN 'STAGING' THEN m.amount ELSE 0 END
        FROM moves_beside_wallets(coalesce(base.entry_id, 0), last_before) m
        JOIN accounts h ON h.id = m.account_id
        LEFT JOIN organisations o ON o.id = m.organisation_id
    ) AS s (account_id, provider_code, amount, staging)
    GROUP BY 2, 3;
    is_made := true;
END
$$;

DROP FUNCTION sums_of_wallets, postings_of_wallet;
ALTER TABLE trial_balances DROP COLUMN moves_since;
DROP TABLE trial_balance_moves;
