-- Expand. The operator pays out: to a provider what it is owed or in advance, to itself the fees that were earned, and commission to an
-- integrator. Each is posted against funding, the money in the bank, with its line in the audit log.

-- As migration 40 has it, and nothing is paid into a wallet that collects commission.
CREATE OR REPLACE FUNCTION post_payment(wallet bigint, kind text, against text, takes boolean, minor bigint, reference text, actor text,
    reason text, OUT entry_id bigint, OUT entry_posted_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    account accounts;
    house_id bigint;
    line bigint;
    signed CONSTANT bigint := CASE WHEN takes THEN -minor ELSE minor END;
BEGIN
    SELECT a.* INTO account FROM accounts a WHERE a.id = wallet AND a.house IS NULL FOR NO KEY UPDATE;
    SELECT h.id INTO house_id FROM accounts h WHERE h.house = against AND h.currency = account.currency;
    IF (
        account.status = 'ACTIVE' AND kind = 'TOP_UP' AND NOT takes AND against = 'FUNDING' AND account.category <> 'COMMISSION'
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
    PERFORM tell_feed(account.organisation_id, CASE kind WHEN 'TOP_UP' THEN 'wallet.topped_up' ELSE 'wallet.adjusted' END,
        entry_posted_at, jsonb_build_object(
            'account', jsonb_build_object('id', wallet, 'name', account.name),
            'entry', entry_id,
            'reference', reference,
            'amount', money_text(account.currency, signed),
            'amount_minor', signed,
            'balance', money_text(account.currency, account.posted + signed),
            'balance_minor', account.posted + signed));
END
$$;

-- Posts a payout between system accounts, or its reversal. Fees are taken out up to what is there; the lock makes two payouts of them
-- take turns. A provider may be paid in advance.
CREATE FUNCTION write_payout(kind text, provider text, ccy text, minor bigint, undoes bigint, reference text, actor text, reason text,
    OUT entry_id bigint, OUT entry_posted_at timestamptz)
LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    owed bigint;
    funding bigint;
    line bigint;
    is_reversal CONSTANT boolean := undoes IS NOT NULL;
BEGIN
    SELECT a.id INTO owed FROM accounts a
    WHERE a.house = CASE kind WHEN 'PROVIDER' THEN 'PROVIDER_PAYABLE' WHEN 'FEES' THEN 'FEE_INCOME' END AND a.currency = ccy
    FOR NO KEY UPDATE;
    SELECT a.id INTO funding FROM accounts a WHERE a.house = 'FUNDING' AND a.currency = ccy;
    IF (owed IS NOT NULL AND (is_reversal OR kind = 'PROVIDER' OR system_balance(owed, NULL) >= minor)) IS NOT TRUE THEN
        RAISE EXCEPTION 'of % in % there is not as much', kind, ccy
            USING ERRCODE = 'check_violation', CONSTRAINT = 'payouts_are_of_what_is_there';
    END IF;

    PERFORM share_trial_balances();
    entry_id := nextval('journal_entry_ids');
    entry_posted_at := clock_timestamp();
    INSERT INTO audit_log (actor, action, subject, reason, details)
    VALUES (actor, CASE kind WHEN 'PROVIDER' THEN 'provider.' ELSE 'fees.' END || CASE WHEN is_reversal THEN 'payout_reversed' ELSE 'paid_out' END,
        CASE kind WHEN 'PROVIDER' THEN 'provider:' || provider ELSE 'fees:' || ccy END, reason,
        jsonb_build_object('amount', format('%s %s%s.%s', ccy, CASE WHEN is_reversal THEN '-' ELSE '' END, minor / 100,
            lpad((minor % 100)::text, 2, '0')), 'entry', entry_id, 'reference', reference, 'reverses', undoes))
    RETURNING id INTO line;
    INSERT INTO journal_entries (id, kind, reference, posted_at) VALUES (entry_id, 'PAYOUT', reference, entry_posted_at);
    INSERT INTO payouts (entry_id, kind, provider_code, audit_id) VALUES (entry_id, kind, provider, line);
    INSERT INTO postings (entry_id, debit_account_id, credit_account_id, currency, amount)
    VALUES (entry_id, CASE WHEN is_reversal THEN funding ELSE owed END, CASE WHEN is_reversal THEN owed ELSE funding END, ccy, minor);
END
$$;

CREATE FUNCTION post_payout(kind text, provider text, ccy text, minor bigint, reference text, actor text, reason text,
    OUT entry_id bigint, OUT entry_posted_at timestamptz)
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT w.entry_id, w.entry_posted_at FROM write_payout(kind, provider, ccy, minor, NULL, reference, actor, reason) w
$$;

-- Undoes one payout between system accounts, once. A reversal is not reversed: the payout is entered again.
CREATE FUNCTION reverse_payout(entry bigint, actor text, reason text, OUT entry_id bigint, OUT entry_posted_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    undone record;
BEGIN
    SELECT o.kind, o.provider_code, p.currency, p.amount INTO undone
    FROM payouts o JOIN postings p ON p.entry_id = o.entry_id
    WHERE o.entry_id = entry AND o.kind IN ('PROVIDER', 'FEES')
        AND NOT EXISTS (SELECT FROM reversals r WHERE r.reversed_by = entry);
    IF NOT FOUND THEN
        RAISE EXCEPTION 'entry % is no payout that can be reversed', entry
            USING ERRCODE = 'check_violation', CONSTRAINT = 'reversals_are_of_payments';
    END IF;
    SELECT posted.entry_id, posted.entry_posted_at INTO entry_id, entry_posted_at
    FROM write_payout(undone.kind, undone.provider_code, undone.currency, undone.amount, entry, NULL, actor, reason) posted;
    INSERT INTO reversals (entry_id, reversed_by) VALUES (entry, entry_id);
END
$$;

-- Commission is taken out of the wallet that collects it, never below what is held. The correction is marked as a payout.
CREATE FUNCTION pay_commission(wallet bigint, minor bigint, reference text, actor text, reason text,
    OUT entry_id bigint, OUT entry_posted_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    IF NOT EXISTS (SELECT FROM accounts a WHERE a.id = wallet AND a.category = 'COMMISSION') THEN
        RAISE EXCEPTION 'account % collects no commission', wallet
            USING ERRCODE = 'check_violation', CONSTRAINT = 'payouts_are_of_what_is_there';
    END IF;
    SELECT posted.entry_id, posted.entry_posted_at INTO entry_id, entry_posted_at
    FROM post_payment(wallet, 'ADJUST', 'FUNDING', true, minor, reference, actor, reason) posted;
    INSERT INTO payouts (entry_id, kind, audit_id)
    SELECT e.id, 'COMMISSION', e.audit_id FROM journal_entries e WHERE e.id = entry_id;
END
$$;

GRANT EXECUTE ON FUNCTION post_payout, reverse_payout, pay_commission TO vendgate_operator;
