-- insert_purchases
-- Each purchase is written with the attempt under whose name it is about to be sent. Its row is also the first line of its
-- history (the view purchase_history).
WITH r AS (
    SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21,
        $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37)
    AS r (id, reference, organisation_id, client_id, user_id, account_id, commission_account_id, source_channel, language,
        product, provider_code, subscriber_identifier, beneficiary_phone_number, currency, entry, charge, net, total,
        commission, external_reference, comment, source_tag, requester_sms, beneficiary_sms, requester_email,
        beneficiary_email, subscriber_details, handling, at, lease_until, window_closes_at, provider_reference,
        idempotency_key, idempotency_use, request_hash, request_id, due_at)
), purchase AS (
    INSERT INTO purchases (id, reference, organisation_id, client_id, user_id, account_id, commission_account_id,
        source_channel, language, product, provider_code, subscriber_identifier, beneficiary_phone_number, currency,
        entry, charge, net, total, commission, external_reference, comment, source_tag, requester_sms, beneficiary_sms,
        requester_email, beneficiary_email, subscriber_details, created_at, state, handling, fence, lease_until,
        attempt, requests, window_closes_at, copies, last_sent_at, provider_reference, idempotency_key, idempotency_use,
        request_hash, request_id, due_at)
    SELECT id, reference, organisation_id, client_id, user_id, account_id, commission_account_id,
        source_channel, language, product, provider_code, subscriber_identifier, beneficiary_phone_number, currency,
        entry, charge, net, total, commission, external_reference, comment, source_tag, requester_sms, beneficiary_sms,
        requester_email, beneficiary_email, subscriber_details, at, 'IN_FLIGHT', handling, 1, lease_until,
        1, 0, window_closes_at, 1, at, provider_reference, idempotency_key, idempotency_use, request_hash,
        request_id, due_at
    FROM r
    ORDER BY organisation_id, product, subscriber_identifier
)
INSERT INTO attempts (purchase_id, number, provider_code, provider_reference, started_at)
SELECT id, 1, provider_code, provider_reference, at FROM r
