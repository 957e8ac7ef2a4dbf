-- find_standings
-- What the books have about each listed vend. The phone number of airtime that was erased is no longer known. Whose a reference is that this
-- provider was not sent, is asked of each other provider by its index: two providers may have been sent the same reference.
SELECT u.id AS unmatched_vend, p.id AS purchase, p.state, p.provider_transaction = l.provider_transaction AS is_its_vend,
    (p.product, p.currency, p.net) = (l.product, l.currency, l.net)
        AND (p.subscriber_identifier = l.subscriber OR p.product = 'AIRTIME' AND p.personal_data_erased_at IS NOT NULL) AS is_its_order,
    i.id AS incident, o.purchase_id AS vend_of, t.provider_code AS other_provider, t.purchase_id AS other_purchase
FROM unnest($2, $3, $4, $5, $6, $7) WITH ORDINALITY
    AS l (provider_reference, provider_transaction, product, subscriber, currency, net, place)
LEFT JOIN attempts a ON a.provider_code = $1 AND a.provider_reference = l.provider_reference
LEFT JOIN purchases p ON p.id = a.purchase_id
LEFT JOIN unmatched_vends u ON u.provider_code = $1 AND u.provider_reference = l.provider_reference
LEFT JOIN LATERAL (
    SELECT i.id FROM incidents i WHERE i.purchase_id = p.id ORDER BY i.provider_transaction <> l.provider_transaction, i.id LIMIT 1
) i ON true
LEFT JOIN LATERAL (
    SELECT q.id AS purchase_id FROM purchases q
    WHERE p.state = 'FAILED' AND q.provider_transaction = l.provider_transaction AND q.state = 'SUCCESSFUL' AND q.provider_code = $1
    UNION ALL
    SELECT n.purchase_id FROM incidents n JOIN purchases q ON q.id = n.purchase_id
    WHERE p.state = 'FAILED' AND n.provider_transaction = l.provider_transaction AND q.provider_code = $1 AND q.id <> p.id
    LIMIT 1
) o ON true
LEFT JOIN LATERAL (
    SELECT b.provider_code, b.purchase_id FROM providers v
    JOIN attempts b ON b.provider_code = v.code AND b.provider_reference = l.provider_reference
    WHERE v.code <> $1 AND a.purchase_id IS NULL
    LIMIT 1
) t ON true
ORDER BY l.place
