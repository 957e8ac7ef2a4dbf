-- update_purchases
-- Compare and set. A purchase that is not as it was read under its lock is not changed. Then the statement fails, because its
-- commit is already on its way.
WITH changed AS (
    UPDATE purchases p
    SET state = u.state, fence = u.fence, lease_until = u.lease_until, attempt = u.attempt, requests = u.requests,
        copies = u.copies, last_sent_at = u.last_sent_at, no_record_since = u.no_record_since,
        claimed_at = u.claimed_at, asked_at = u.asked_at, send_ended_at = u.send_ended_at,
        earlier_sends_ended_by = u.earlier_sends_ended_by,
        provider_reference = u.provider_reference, ended_at = u.ended_at,
        token_key_id = u.token_key_id, sealed_token = u.sealed_token,
        units_quantity = u.units_quantity::numeric, units_unit = u.units_unit,
        provider_transaction = u.provider_transaction, vend_subscriber_details = u.vend_subscriber_details,
        cost = u.cost, vat = u.vat, levy = u.levy, regulatory_fee = u.regulatory_fee, provider_charge = u.provider_charge,
        failure = u.failure, failure_reason = u.failure_reason, failure_wording = u.failure_wording,
        due_at = u.due_at
    FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24,
        $25, $26, $27, $28, $29, $30, $31, $32)
    AS u (id, old_state, old_fence, state, fence, lease_until, attempt, requests, copies, last_sent_at, no_record_since,
        provider_reference, ended_at, token_key_id, sealed_token, units_quantity, units_unit, provider_transaction,
        vend_subscriber_details, cost, vat, levy, regulatory_fee, provider_charge, failure, failure_reason, failure_wording,
        due_at, claimed_at, asked_at, send_ended_at, earlier_sends_ended_by)
    WHERE p.id = u.id AND p.state = u.old_state AND p.fence = u.old_fence
    RETURNING p.id
)
SELECT refuse_partial_change(count(*), cardinality($1)) FROM changed HAVING count(*) <> cardinality($1)
