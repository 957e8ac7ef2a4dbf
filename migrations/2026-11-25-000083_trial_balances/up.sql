-- Expand. The balances of all accounts at a moment, made once. A trial balance has the system accounts, and for each provider what it
-- is owed. The wallets have their cut-offs at the same moment. Debit and credit of a posting are divided together: a posting of a
-- wallet by the wallet's cut-off, any other posting by `entry_id` below. So at each moment all balances of a currency add up to zero.
-- Nothing here is written by a sale, and no sum begins before the last trial balance.
CREATE TABLE trial_balances (
    id         bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    at         timestamptz PRIMARY KEY,
    -- The last entry before the moment that moved no wallet; 0 if there is none.
    entry_id   bigint NOT NULL CHECK (entry_id >= 0),
    -- The last entry before the moment in any wallet's cut-off.
    last_entry bigint NOT NULL CHECK (last_entry >= 0)
);
CREATE TABLE trial_balance_lines (
    at            timestamptz NOT NULL REFERENCES trial_balances (at),
    account_id    bigint NOT NULL,
    -- Whom it is owed to; empty for accounts that are of no provider.
    provider_code text NOT NULL,
    -- What was credited less what was debited.
    balance       bigint NOT NULL,
    PRIMARY KEY (at, account_id, provider_code)
);
CREATE TRIGGER trial_balances_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON trial_balances
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();
CREATE TRIGGER trial_balance_lines_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON trial_balance_lines
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();

-- A trial balance takes this lock alone for as long as it reads the entries that move no wallet. Every transaction that posts such
-- an entry, or opens a wallet, shares the lock before it takes a number or a time. So what a trial balance does not see has a later
-- number or a later time. Posters never wait for each other.
CREATE FUNCTION share_trial_balances() RETURNS void LANGUAGE sql SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT pg_advisory_xact_lock_shared(hashtextextended('vendgate.trial_balances', 0))
$$;

CREATE FUNCTION begin_after_trial_balances() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM share_trial_balances();
    IF TG_LEVEL = 'ROW' THEN
        NEW.created_at := clock_timestamp();
        RETURN NEW;
    END IF;
    RETURN NULL;
END
$$;

-- Each of these waits until the writers of its table have ended, which did not share the lock.
CREATE TRIGGER accounts_begin_after_trial_balances BEFORE INSERT ON accounts
    FOR EACH ROW EXECUTE FUNCTION begin_after_trial_balances();
CREATE TRIGGER incidents_follow_trial_balances BEFORE INSERT ON incidents
    FOR EACH STATEMENT EXECUTE FUNCTION begin_after_trial_balances();
CREATE TRIGGER unmatched_vends_follow_trial_balances BEFORE INSERT ON unmatched_vends
    FOR EACH STATEMENT EXECUTE FUNCTION begin_after_trial_balances();

-- What the entries of wallets moved on system accounts between two moments that have their cut-offs. Without `since` from the first
-- entry on; without `until` up to the last one. A wallet belongs to the moments after it was opened. The amount is what was credited
-- to the system account less what was debited.
--
-- Each entry is found by its index: with other joins the planner would read the whole history for one day of it.
CREATE FUNCTION moves_of_wallets(since timestamptz, until timestamptz)
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

-- The same for the entries that move no wallet, after one entry and up to another.
CREATE FUNCTION moves_beside_wallets(after_entry bigint, until_entry bigint)
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

-- The trial balance of a moment that has passed, made if it does not exist. `is_made` is false if the moment has not come, if a wallet
-- has no cut-off there yet, or if an entry that moves no wallet is under way: then the caller comes back. `is_far` says that more than
-- `entries_max` entries lie between it and `since`, the trial balance before it: then one in between comes first.
CREATE FUNCTION strike_trial_balance(moment timestamptz, entries_max bigint, OUT is_made boolean, OUT is_far boolean,
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

    SELECT array_agg(s.account_id), array_agg(s.provider_code), array_agg(s.amount)
    INTO of_accounts, of_providers, of_amounts
    FROM (
        SELECT m.account_id, CASE h.house WHEN 'PROVIDER_PAYABLE' THEN m.provider_code ELSE '' END AS provider_code,
            sum(m.amount)::bigint AS amount
        FROM moves_of_wallets(base.at, moment) m JOIN accounts h ON h.id = m.account_id
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
    INSERT INTO trial_balance_lines (at, account_id, provider_code, balance)
    SELECT moment, s.account_id, s.provider_code, sum(s.amount)::bigint
    FROM (
        SELECT l.account_id, l.provider_code, l.balance AS amount FROM trial_balance_lines l WHERE l.at = base.at
        UNION ALL
        SELECT * FROM unnest(of_accounts, of_providers, of_amounts)
        UNION ALL
        SELECT m.account_id, CASE h.house WHEN 'PROVIDER_PAYABLE' THEN m.provider_code ELSE '' END, m.amount
        FROM moves_beside_wallets(coalesce(base.entry_id, 0), last_before) m JOIN accounts h ON h.id = m.account_id
    ) AS s (account_id, provider_code, amount)
    GROUP BY 2, 3;
    is_made := true;
END
$$;

-- What a system account has now, or for a provider what it is owed: its line of the last trial balance, and what has moved since.
CREATE FUNCTION system_balance(account bigint, provider text) RETURNS bigint LANGUAGE sql STABLE
SET search_path = pg_catalog, public, pg_temp AS $$
    WITH last AS MATERIALIZED (SELECT t.at, t.entry_id FROM trial_balances t ORDER BY t.at DESC LIMIT 1)
    SELECT coalesce(sum(s.amount), 0)::bigint
    FROM (
        SELECT l.account_id, l.provider_code, l.balance FROM last JOIN trial_balance_lines l ON l.at = last.at
        UNION ALL
        SELECT m.account_id, m.provider_code, m.amount FROM moves_of_wallets((SELECT last.at FROM last), NULL) m
        UNION ALL
        SELECT m.account_id, m.provider_code, m.amount
        FROM moves_beside_wallets(coalesce((SELECT last.entry_id FROM last), 0), 9223372036854775807) m
    ) AS s (account_id, provider_code, amount)
    WHERE s.account_id = account AND (provider IS NULL OR s.provider_code = provider)
$$;

GRANT SELECT ON trial_balances, trial_balance_lines TO vendgate_worker, vendgate_operator;
-- The database computes it, so it is true for every caller.
GRANT EXECUTE ON FUNCTION strike_trial_balance, moves_of_wallets, moves_beside_wallets TO vendgate_worker, vendgate_operator;
GRANT EXECUTE ON FUNCTION system_balance TO vendgate_operator;
