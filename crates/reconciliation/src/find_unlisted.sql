-- find_unlisted
-- Which of these purchases no statement has. One that lies at the edge of this period may have been seen by the run beside it, or
-- lie within the period of another run, which has judged it.
SELECT p.id, p.state, p.provider_reference, p.provider_transaction, p.product, p.currency, p.net, p.created_at,
    CASE WHEN p.product <> 'AIRTIME' THEN p.subscriber_identifier END AS meter,
    EXISTS (
        SELECT FROM audit_log l
        WHERE l.subject = 'purchase:' || p.id AND l.action = 'purchase.resolved' AND l.details ->> 'as' = 'vended'
    ) AS is_by_person
FROM unnest($1, $2) AS c (id, is_at_an_edge)
JOIN purchases p ON p.id = c.id
WHERE NOT c.is_at_an_edge OR NOT EXISTS (
    SELECT FROM reconciliation_sightings s WHERE s.purchase_id = p.id
) AND NOT EXISTS (
    SELECT FROM reconciliations r
    WHERE r.provider_code = p.provider_code AND r.finished_at IS NOT NULL AND r.id IS DISTINCT FROM $3
        AND r.started_at > p.ended_at
        AND r.covers_from <= p.created_at - make_interval(secs => r.tolerance_s)
        AND r.covers_until > p.ended_at + make_interval(secs => r.tolerance_s)
)
ORDER BY p.id
