SELECT p.id, p.reference, p.organisation_id, p.client_id, p.user_id, p.account_id, p.source_channel, p.language,
    p.product, p.provider_code, p.subscriber_identifier, p.beneficiary_phone_number, p.currency, p.entry, p.charge,
    p.net, p.total, p.commission, p.external_reference, p.comment, p.requester_sms, p.beneficiary_sms,
    p.requester_email, p.beneficiary_email, p.subscriber_details, p.request_id, p.created_at, p.ended_at,
    p.state, p.handling, p.fence,
    p.lease_until, p.claimed_at, p.asked_at, p.attempt, p.requests, p.window_closes_at, p.copies, p.last_sent_at, p.send_ended_at,
    p.earlier_sends_ended_by, p.no_record_since,
    p.provider_reference, p.token_key_id, p.sealed_token, p.units_quantity::text AS units_quantity, p.units_unit,
    p.provider_transaction, p.vend_subscriber_details, p.cost, p.vat, p.levy, p.regulatory_fee, p.provider_charge,
    p.failure, p.failure_reason, p.failure_wording,
    a.retries_enabled AND v.retries_enabled AS retries_enabled,
    v.repeat_is_safe, v.remembers_refusals, v.not_found_counts, v.settles_within_s,
    clock_timestamp() AS at
FROM purchases p
JOIN accounts a ON a.id = p.account_id
JOIN providers v ON v.code = p.provider_code
