-- A charge of 1.50 on each purchase, and a commission of one per cent.
INSERT INTO purchases (id, reference, organisation_id, client_id, user_id, account_id, commission_account_id, source_channel, language,
    product, provider_code, subscriber_identifier, beneficiary_phone_number, currency, entry, charge, net, total, commission,
    external_reference, requester_sms, beneficiary_sms, requester_email, beneficiary_email, subscriber_details, created_at, state,
    handling, fence, attempt, requests, window_closes_at, copies, last_sent_at, send_ended_at, claimed_at, provider_reference,
    ended_at, due_at, token_key_id, sealed_token, units_quantity, units_unit, provider_transaction, vend_subscriber_details, cost,
    vat, levy, regulatory_fee, provider_charge, failure, failure_reason, failure_wording, idempotency_key, idempotency_use,
    request_hash, request_id)
SELECT id, 'TOP/' || to_char(at, 'YYYY/MM/') || lpad(id::text, 10, '0'), organisation_id, client_id, user_id, account_id,
    commission_account_id, 'POS', 'en-BW', product, provider_code, subscriber, '26771234567', 'BWP', net, 150, net, net + 150,
    round(net * 0.01), external_reference, true, true, false, false,
    CASE WHEN product <> 'AIRTIME' THEN 'K MOLEFE & SONS' END, at,
    CASE WHEN is_success THEN 'SUCCESSFUL' WHEN ending = 'OPEN' THEN 'REVIEW' ELSE 'FAILED' END, 'SELF_MANAGED',
    CASE WHEN ending IN ('VENDED', 'REFUSED') THEN 1 ELSE 2 END, 1, CASE WHEN ending IN ('VENDED', 'REFUSED') THEN 0 ELSE 1 END,
    at + interval '30 minutes', CASE WHEN ending = 'OPEN' THEN 1 END, CASE WHEN ending = 'OPEN' THEN at END,
    CASE WHEN ending = 'OPEN' THEN at + interval '2 minutes' END,
    CASE WHEN ending IN ('OPEN', 'VENDED_LATER') THEN at + interval '39 s' END, provider_reference, ended_at,
    CASE WHEN ending = 'OPEN' THEN now() + interval '1 day' END, CASE WHEN sealed_token IS NOT NULL THEN 1 END, sealed_token,
    CASE WHEN sealed_token IS NOT NULL THEN net / 150.0 END::numeric(12, 1), CASE WHEN sealed_token IS NOT NULL THEN 'kWh' END,
    CASE WHEN is_success THEN provider_transaction END,
    CASE WHEN is_success AND product <> 'AIRTIME' THEN 'K MOLEFE & SONS' END,
    CASE WHEN is_success THEN net - net / 10 - net / 20 END, CASE WHEN is_success THEN net / 10 END,
    CASE WHEN is_success THEN net / 20 END, CASE WHEN is_success THEN 0 END, CASE WHEN is_success THEN 0 END,
    CASE WHEN ending = 'REFUSED' THEN 'REFUSED' END, CASE WHEN ending = 'REFUSED' THEN 'blocked' END,
    CASE WHEN ending = 'REFUSED' THEN 'Meter blocked' END, idempotency_key, CASE WHEN idempotency_key IS NOT NULL THEN 1 END,
    CASE WHEN idempotency_key IS NOT NULL THEN sha256(idempotency_key::bytea) END, gen_random_uuid()::text
FROM batch;

INSERT INTO attempts (purchase_id, number, provider_code, provider_reference, started_at)
SELECT id, 1, provider_code, provider_reference, at FROM batch;

INSERT INTO purchase_events (purchase_id, at, fact, detail, state, fence, attempt)
SELECT b.id, b.at + v.after, v.fact, CASE WHEN v.fact = 'VENDED' THEN b.provider_transaction ELSE v.detail END, v.state, v.fence, 1
FROM batch b JOIN (VALUES
    ('VENDED', interval '1.2 s', 'VENDED', NULL, 'SUCCESSFUL', 1),
    ('REFUSED', interval '1.2 s', 'REFUSED', 'blocked', 'FAILED', 1),
    ('VENDED_LATER', interval '30 s', 'LOST', 'timed_out', 'IN_DOUBT', 1),
    ('VENDED_LATER', interval '39 s', 'CLAIMED', NULL, 'IN_DOUBT', 2),
    ('VENDED_LATER', interval '40 s', 'VENDED', NULL, 'SUCCESSFUL', 2),
    ('OPEN', interval '2 minutes', 'LOST', 'timed_out', 'IN_DOUBT', 1),
    ('OPEN', interval '31 minutes', 'CLAIMED', NULL, 'IN_DOUBT', 2),
    ('OPEN', interval '32 minutes', 'WINDOW_CLOSED', NULL, 'REVIEW', 2)
) AS v (ending, after, fact, detail, state, fence) USING (ending)
ORDER BY b.id, v.after;

INSERT INTO provider_replies (purchase_id, attempt, at, key_id, sealed_reply)
SELECT id, 1, coalesce(ended_at, at), 1, sealed_reply FROM batch;

INSERT INTO journal_entries (id, kind, purchase_id, posted_at) SELECT entry_id, 'SETTLE', id, ended_at FROM batch WHERE is_success;

INSERT INTO postings (entry_id, debit_account_id, credit_account_id, currency, amount)
SELECT b.entry_id, m.debit, m.credit, 'BWP', m.amount
FROM batch b
JOIN accounts payable ON payable.house = 'PROVIDER_PAYABLE' AND payable.currency = 'BWP'
JOIN accounts income ON income.house = 'FEE_INCOME' AND income.currency = 'BWP'
JOIN accounts expense ON expense.house = 'COMMISSION_EXPENSE' AND expense.currency = 'BWP'
CROSS JOIN LATERAL (VALUES
    (b.account_id, payable.id, b.net),
    (b.account_id, income.id, 150),
    (expense.id, b.commission_account_id, round(b.net * 0.01)::bigint)
) AS m (debit, credit, amount)
WHERE b.is_success
ORDER BY b.entry_id;

-- Those of earlier months are deleted by housekeeping.
INSERT INTO outbox (purchase_id, kind, recipient, channel, written_at, due_at, attempts, sent_at)
SELECT id, CASE WHEN is_success THEN 'ISSUED' ELSE 'REFUNDED' END, recipient, 'SMS', ended_at, ended_at, 1, ended_at + interval '1 s'
FROM batch, unnest(ARRAY['BENEFICIARY', 'REQUESTER']) AS recipient
WHERE ended_at > now() - interval '30 days';
