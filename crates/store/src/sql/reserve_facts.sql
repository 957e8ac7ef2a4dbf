-- reserve_facts
-- Read after the wallets are locked: whoever closes a reference locks them too. The age of a request is measured just
-- after the transaction began, so now() less the age is never later than its arrival.
SELECT clock_timestamp() AS at,
    kept.id IS NOT NULL AS is_on_file,
    (
        SELECT p.id FROM purchases p
        WHERE p.organisation_id = r.organisation_id AND p.product = r.product
            AND p.subscriber_identifier = r.subscriber
            AND p.state IN ('IN_FLIGHT', 'IN_DOUBT', 'RETRY_DUE', 'REVIEW')
    ) AS open_purchase_id,
    x.closed_at IS NOT NULL AS reference_is_closed
FROM unnest($1, $2, $3, $4, $5, $6)
    WITH ORDINALITY AS r (id, organisation_id, product, subscriber, external_reference, age_us, ordinal)
LEFT JOIN purchases kept ON kept.id = r.id
LEFT JOIN closed_references x
    ON x.organisation_id = r.organisation_id AND x.subscriber_identifier = r.subscriber
    AND x.external_reference = r.external_reference
    AND x.closed_at >= now() - r.age_us * interval '1 microsecond'
ORDER BY r.ordinal
