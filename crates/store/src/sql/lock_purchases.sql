-- lock_purchases
-- Runs after the wallets are locked, see lock_wallets.
SELECT p.id, p.account_id, p.commission_account_id, p.provider_code, p.currency, p.net, p.total, p.commission,
    p.state, p.handling, p.fence, p.lease_until, p.claimed_at, p.asked_at, p.attempt, p.requests, p.window_closes_at, p.copies, p.last_sent_at,
    p.send_ended_at, p.earlier_sends_ended_by, p.no_record_since, p.provider_reference, p.created_at, p.provider_transaction, p.failure, p.failure_reason, p.failure_wording,
    p.requester_sms, p.beneficiary_sms, p.requester_email, p.beneficiary_email,
    ARRAY (SELECT i.provider_transaction FROM incidents i WHERE i.purchase_id = p.id) AS incidents,
    v.repeat_is_safe, v.remembers_refusals, v.not_found_counts, v.settles_within_s,
    clock_timestamp() AS at
FROM purchases p
JOIN providers v ON v.code = p.provider_code
WHERE p.id = ANY ($1)
ORDER BY p.id
FOR NO KEY UPDATE OF p
