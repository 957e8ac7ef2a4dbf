-- find_reserve_inputs
-- Read after the wallets are locked, because closing a reference locks them too. A reference rests for requests that
-- arrived before the end of its rest: the reader compares. Each value is a scalar subquery: the planner may answer EXISTS
-- from a copy of all offers or all allow lists, and makes that copy again for every group.
SELECT clock_timestamp() AS at,
    (SELECT true FROM purchases kept WHERE kept.id = r.id) IS NOT NULL AS is_stored,
    (
        SELECT p.id FROM purchases p
        WHERE p.organisation_id = r.organisation_id AND p.product = r.product
            AND p.subscriber_identifier = r.subscriber
            AND p.state IN ('IN_FLIGHT', 'IN_DOUBT', 'RETRY_DUE', 'REVIEW')
    ) AS open_purchase_id,
    (
        SELECT greatest(x.closed_at, x.rests_until) FROM closed_references x
        WHERE x.organisation_id = r.organisation_id AND x.subscriber_identifier = r.subscriber
            AND x.external_reference = r.external_reference
    ) AS reference_rests_until,
    (
        SELECT true FROM offers o
        WHERE o.organisation_id = r.organisation_id AND o.product = r.product AND o.provider_code = r.provider_code
    ) IS NOT NULL AS is_offered,
    (
        SELECT true FROM allowed_subscribers l
        WHERE l.organisation_id = r.organisation_id AND l.subscriber_identifier = r.subscriber
    ) IS NOT NULL AS is_on_allow_list,
    pause.is_in_force AS is_paused, pause.until AS paused_until
FROM unnest($1, $2, $3, $4, $5, $6)
    WITH ORDINALITY AS r (id, organisation_id, product, subscriber, external_reference, provider_code, ordinal)
-- `until` is null if an operator ends one of the pauses.
CROSS JOIN LATERAL (
    SELECT count(*) > 0 AS is_in_force, CASE WHEN count(*) = count(s.ends_at) THEN max(s.ends_at) END AS until
    FROM provider_pauses s
    WHERE s.provider_code = r.provider_code AND (s.product IS NULL OR s.product = r.product)
        AND s.starts_at <= clock_timestamp() AND (s.ends_at IS NULL OR s.ends_at > clock_timestamp())
) pause
ORDER BY r.ordinal
