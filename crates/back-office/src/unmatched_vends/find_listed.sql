-- find_listed
-- A vend that came after the end of its purchase is an incident, with the same transaction.
SELECT l.place::integer, u.id AS unmatched_vend, p.id AS purchase, p.state, p.subscriber_identifier, p.currency, p.net,
    coalesce(
        (SELECT i.provider_transaction FROM incidents i
         WHERE i.purchase_id = p.id AND i.provider_transaction = l.provider_transaction),
        p.provider_transaction
    ) AS provider_transaction
FROM unnest($2, $3) WITH ORDINALITY AS l (provider_reference, provider_transaction, place)
LEFT JOIN attempts a ON a.provider_code = $1 AND a.provider_reference = l.provider_reference
LEFT JOIN purchases p ON p.id = a.purchase_id
LEFT JOIN unmatched_vends u ON u.provider_code = $1 AND u.provider_reference = l.provider_reference
