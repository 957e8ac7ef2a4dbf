-- Expand. A report added up the postings of each of its days again, eight seconds and more for a month of a million purchases. They are
-- added up for the trial balance anyway, so what they came to is kept with it.

-- What the entries of wallets moved between a trial balance and the one before it, as `sums_of_wallets` has it.
CREATE TABLE trial_balance_moves (
    at              timestamptz NOT NULL REFERENCES trial_balances (at),
    account_id      bigint NOT NULL,
    organisation_id bigint NOT NULL,
    is_commission   boolean NOT NULL,
    kind            text NOT NULL,
    is_payout       boolean NOT NULL,
    provider_code   text NOT NULL,
    product         text NOT NULL,
    moves           bigint NOT NULL,
    -- What was credited to the system account less what was debited.
    amount          bigint NOT NULL,
    -- Of the purchases that were settled.
    total           bigint NOT NULL,
    charge          bigint NOT NULL,
    commission      bigint NOT NULL,
    currency        text NOT NULL,
    PRIMARY KEY (at, account_id, organisation_id, is_commission, kind, is_payout, provider_code, product)
);
CREATE TRIGGER trial_balance_moves_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON trial_balance_moves
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();

-- The trial balance before it when its moves were kept. NULL if they were not. One that is made in between later does not change them.
ALTER TABLE trial_balances ADD COLUMN moves_since timestamptz;

-- The postings of a wallet after one entry and up to another, seen from the account on the other side: what was credited to it less what
-- was debited. Both ends of a range name the wallet and the entry, and no other plan is allowed. Otherwise the planner took the index of
-- entries, and with ten million purchases it read the journal from its first entry on, for each wallet and each midnight.
CREATE FUNCTION postings_of_wallet(wallet bigint, after_entry bigint, until_entry bigint)
RETURNS TABLE (other bigint, entry_id bigint, amount bigint)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT d.credit_account_id, d.entry_id, d.amount FROM postings d
    WHERE (d.debit_account_id, d.entry_id) > (wallet, after_entry) AND (d.debit_account_id, d.entry_id) <= (wallet, until_entry);
    RETURN QUERY
    SELECT c.debit_account_id, c.entry_id, -c.amount FROM postings c
    WHERE (c.credit_account_id, c.entry_id) > (wallet, after_entry) AND (c.credit_account_id, c.entry_id) <= (wallet, until_entry);
END
$$;

-- As moves_of_wallets, with what the purchases of these entries came to: the same purchase once for each of its postings.
CREATE FUNCTION sums_of_wallets(since timestamptz, until timestamptz)
RETURNS TABLE (account_id bigint, organisation_id bigint, is_commission boolean, kind text, is_payout boolean, provider_code text,
    product text, moves bigint, amount bigint, total bigint, charge bigint, commission bigint)
LANGUAGE sql STABLE
SET search_path = pg_catalog, public, pg_temp SET enable_hashjoin = off SET enable_mergejoin = off AS $$
    SELECT m.other, w.organisation_id, w.category = 'COMMISSION', e.kind, o.entry_id IS NOT NULL, coalesce(p.provider_code, ''),
        coalesce(p.product, ''), count(*), sum(m.amount)::bigint, coalesce(sum(p.total), 0)::bigint, coalesce(sum(p.charge), 0)::bigint,
        coalesce(sum(p.commission), 0)::bigint
    FROM accounts w
    LEFT JOIN cutoffs b ON b.account_id = w.id AND b.at = since
    LEFT JOIN cutoffs c ON c.account_id = w.id AND c.at = until
    CROSS JOIN LATERAL (VALUES (
        CASE WHEN w.created_at < since THEN b.entry_id ELSE 0 END,
        CASE WHEN until IS NULL THEN 9223372036854775807 ELSE c.entry_id END
    )) AS r (after_entry, until_entry)
    CROSS JOIN LATERAL postings_of_wallet(w.id, r.after_entry, r.until_entry) AS m
    JOIN journal_entries e ON e.id = m.entry_id
    LEFT JOIN purchases p ON p.id = e.purchase_id
    LEFT JOIN reversals v ON e.kind = 'ADJUST' AND v.reversed_by = e.id
    LEFT JOIN payouts o ON e.kind = 'ADJUST' AND o.entry_id = coalesce(v.entry_id, e.id)
    WHERE w.house IS NULL AND (until IS NULL OR w.created_at < until)
    GROUP BY 1, 2, 3, 4, 5, 6, 7
$$;

CREATE OR REPLACE FUNCTION moves_of_wallets(since timestamptz, until timestamptz)
RETURNS TABLE (account_id bigint, organisation_id bigint, is_commission boolean, kind text, is_payout boolean, provider_code text,
    product text, moves bigint, amount bigint)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT s.account_id, s.organisation_id, s.is_commission, s.kind, s.is_payout, s.provider_code, s.product, s.moves, s.amount
    FROM sums_of_wallets(since, until) s
$$;

-- The sums of wallets between two trial balances: those that were kept, or else added up.
CREATE FUNCTION kept_sums_of_wallets(since timestamptz, until timestamptz)
RETURNS TABLE (account_id bigint, organisation_id bigint, is_commission boolean, kind text, is_payout boolean, provider_code text,
    product text, moves bigint, amount bigint, total bigint, charge bigint, commission bigint)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
    IF EXISTS (SELECT FROM trial_balances t WHERE t.at = until AND t.moves_since = coalesce(since, '-infinity')) THEN
        RETURN QUERY SELECT m.account_id, m.organisation_id, m.is_commission, m.kind, m.is_payout, m.provider_code, m.product, m.moves,
            m.amount, m.total, m.charge, m.commission
        FROM trial_balance_moves m WHERE m.at = until;
    ELSE
        RETURN QUERY SELECT * FROM sums_of_wallets(since, until);
    END IF;
END
$$;

-- As before, and it keeps what has moved.
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
    moved trial_balance_moves[];
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

    SELECT array_agg(ROW(moment, s.*, h.currency)::trial_balance_moves) INTO moved
    FROM sums_of_wallets(base.at, moment) s JOIN accounts h ON h.id = s.account_id;

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

    INSERT INTO trial_balances (at, entry_id, last_entry, moves_since)
    VALUES (moment, last_before, last_entry, coalesce(base.at, '-infinity'));
    INSERT INTO trial_balance_moves SELECT * FROM unnest(moved);
    INSERT INTO trial_balance_lines (at, account_id, provider_code, balance, staging)
    SELECT moment, s.account_id, s.provider_code, sum(s.amount)::bigint, sum(s.staging)::bigint
    FROM (
        SELECT l.account_id, l.provider_code, l.balance AS amount, l.staging FROM trial_balance_lines l WHERE l.at = base.at
        UNION ALL
        SELECT m.account_id, CASE h.house WHEN 'PROVIDER_PAYABLE' THEN m.provider_code ELSE '' END, m.amount,
            CASE o.environment WHEN 'STAGING' THEN m.amount ELSE 0 END
        FROM unnest(moved) m
        JOIN accounts h ON h.id = m.account_id
        JOIN organisations o ON o.id = m.organisation_id
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

GRANT SELECT ON trial_balance_moves TO vendgate_worker, vendgate_operator, vendgate_support, vendgate_finance, vendgate_administrator;
GRANT EXECUTE ON FUNCTION postings_of_wallet TO vendgate_support, vendgate_administrator;
GRANT EXECUTE ON FUNCTION postings_of_wallet, sums_of_wallets, kept_sums_of_wallets TO vendgate_worker, vendgate_operator, vendgate_finance;
