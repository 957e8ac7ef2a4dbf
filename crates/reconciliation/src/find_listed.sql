-- find_listed
-- A vend that came after the end of its purchase is an incident, with the same transaction. The phone number of airtime that was
-- erased is no longer known.
SELECT l.place::integer, u.id AS unmatched_vend, p.id AS purchase, p.state, p.provider_reference = l.provider_reference AS is_current,
    p.product, p.currency, p.net, p.provider_transaction, i.at AS incident_at, p.created_at, p.ended_at,
    CASE WHEN p.product <> 'AIRTIME' OR p.personal_data_erased_at IS NULL THEN p.subscriber_identifier END AS subscriber_identifier,
    p.token_key_id, p.sealed_token
FROM unnest($2, $3) WITH ORDINALITY AS l (provider_reference, provider_transaction, place)
LEFT JOIN attempts a ON a.provider_code = $1 AND a.provider_reference = l.provider_reference
LEFT JOIN purchases p ON p.id = a.purchase_id
LEFT JOIN incidents i ON i.purchase_id = p.id AND i.provider_transaction = l.provider_transaction
LEFT JOIN unmatched_vends u ON u.provider_code = $1 AND u.provider_reference = l.provider_reference
