-- reserve_facts
-- Read after the wallets are locked, because closing a reference locks them too. The age of a request is measured just
-- after the transaction began, so now() minus the age is never later than its arrival. A reference rests for requests
-- that arrived before the end of its rest.
SELECT clock_timestamp() AS at,
    kept.id IS NOT NULL AS is_on_file,
    (
        SELECT p.id FROM purchases p
        WHERE p.organisation_id = r.organisation_id AND p.product = r.product
            AND p.subscriber_identifier = r.subscriber
            AND p.state IN ('IN_FLIGHT', 'IN_DOUBT', 'RETRY_DUE', 'REVIEW')
    ) AS open_purchase_id,
    greatest(x.closed_at, x.rests_until) AS reference_rests_until,
    EXISTS (
        SELECT FROM offers o
        WHERE o.organisation_id = r.organisation_id AND o.product = r.product AND o.provider_code = r.provider_code
    ) AS is_offered,
    EXISTS (
        SELECT FROM allowed_subscribers l
        WHERE l.organisation_id = r.organisation_id AND l.subscriber_identifier = r.subscriber
    ) AS is_on_allow_list
FROM unnest($1, $2, $3, $4, $5, $6, $7)
    WITH ORDINALITY AS r (id, organisation_id, product, subscriber, external_reference, age_us, provider_code, ordinal)
LEFT JOIN purchases kept ON kept.id = r.id
LEFT JOIN closed_references x
    ON x.organisation_id = r.organisation_id AND x.subscriber_identifier = r.subscriber
    AND x.external_reference = r.external_reference
    AND greatest(x.closed_at, x.rests_until) >= now() - r.age_us * interval '1 microsecond'
ORDER BY r.ordinal
