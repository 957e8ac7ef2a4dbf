-- Expand. A trial balance did not say what of a balance is of organisations in staging, whose money is not real. So what providers are
-- owed, and the fees, were reported with the sales of tests among them.

-- The part of the balance that is of organisations in staging. What is of no organisation is real.
ALTER TABLE trial_balance_lines ADD COLUMN staging bigint NOT NULL DEFAULT 0;

-- The trial balances that there are: the part of each is that of the one before it, and what has moved since.
ALTER TABLE trial_balance_lines DISABLE TRIGGER trial_balance_lines_are_append_only;
WITH moved AS (
    SELECT t.at, m.account_id, CASE h.house WHEN 'PROVIDER_PAYABLE' THEN m.provider_code ELSE '' END AS provider_code, m.amount
    FROM (
        SELECT b.at, lag(b.at) OVER w AS since, coalesce(lag(b.entry_id) OVER w, 0) AS after_entry, b.entry_id
        FROM trial_balances b WINDOW w AS (ORDER BY b.at)
    ) AS t
    CROSS JOIN LATERAL (
        SELECT w.account_id, w.organisation_id, w.provider_code, w.amount FROM moves_of_wallets(t.since, t.at) w
        UNION ALL
        SELECT e.account_id, e.organisation_id, e.provider_code, e.amount FROM moves_beside_wallets(t.after_entry, t.entry_id) e
    ) AS m
    JOIN organisations o ON o.id = m.organisation_id AND o.environment = 'STAGING'
    JOIN accounts h ON h.id = m.account_id
)
UPDATE trial_balance_lines l SET staging = (
    SELECT coalesce(sum(m.amount), 0)::bigint FROM moved m
    WHERE m.account_id = l.account_id AND m.provider_code = l.provider_code AND m.at <= l.at
);
ALTER TABLE trial_balance_lines ENABLE TRIGGER trial_balance_lines_are_append_only;

-- As before, and `staging`.
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
