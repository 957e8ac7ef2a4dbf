DROP FUNCTION pay_commission, reverse_payout, post_payout, write_payout;

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
