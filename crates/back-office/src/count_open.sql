-- count_open
-- All waiting work, from the small indexes of open rows. The cost does not grow with history.
SELECT 'PURCHASES' AS backlog, state AS what, count(*) AS waiting,
       extract(epoch FROM now() - min(created_at))::bigint AS oldest_s,
       extract(epoch FROM now() - min(due_at))::bigint AS overdue_s
FROM purchases
WHERE due_at IS NOT NULL
GROUP BY state
UNION ALL
SELECT 'OUTBOX', '', count(*),
       extract(epoch FROM now() - min(written_at))::bigint,
       extract(epoch FROM now() - min(due_at))::bigint
FROM (
    SELECT written_at, due_at FROM outbox WHERE sent_at IS NULL AND given_up_at IS NULL
    UNION ALL
    SELECT written_at, due_at FROM repeated_messages WHERE sent_at IS NULL AND given_up_at IS NULL
) AS messages
UNION ALL
SELECT 'INCIDENTS', '', count(*),
       extract(epoch FROM now() - min(at))::bigint,
       NULL
FROM incidents i
WHERE NOT EXISTS (SELECT FROM incident_decisions d WHERE d.incident_id = i.id)
UNION ALL
-- A vend that was entered is decided as an unmatched vend.
SELECT 'DISCREPANCIES', CASE WHEN d.is_by_person THEN 'ONLY_OURS_BY_HAND' ELSE d.kind END, count(*),
       extract(epoch FROM now() - min(d.found_at))::bigint,
       NULL
FROM discrepancies d
WHERE NOT EXISTS (SELECT FROM discrepancy_decisions x WHERE x.discrepancy_id = d.id)
    AND NOT (d.kind = 'ONLY_THEIRS' AND EXISTS (
        SELECT FROM unmatched_vends u
        JOIN unmatched_vend_decisions e ON e.unmatched_vend_id = u.id
        WHERE u.provider_code = d.provider_code AND u.provider_reference = d.provider_reference
    ))
GROUP BY 2
UNION ALL
-- Providers that were reconciled once, and are offered. Others are not waited for.
SELECT 'RECONCILED', r.provider_code, 1,
       extract(epoch FROM now() - max(r.covers_until))::bigint,
       NULL
FROM reconciliations r
WHERE r.finished_at IS NOT NULL AND EXISTS (SELECT FROM offers o WHERE o.provider_code = r.provider_code)
GROUP BY r.provider_code
UNION ALL
-- Events that are committed and that an older open transaction holds back.
SELECT 'FEED', '', count(*),
       extract(epoch FROM now() - min(held.at))::bigint,
       NULL
FROM organisations o
CROSS JOIN LATERAL (
    SELECT e.at FROM feed_events e
    WHERE e.organisation_id = o.id
        AND e.transaction_no >= (SELECT n.base + pg_snapshot_xmin(pg_current_snapshot())::text::bigint FROM feed_numbering n)
    ORDER BY e.transaction_no, e.id LIMIT 1
) held
UNION ALL
-- The first event behind the position of each endpoint. One that fails is its receiver's delay, and has an end of its own.
SELECT 'WEBHOOKS', '', count(*),
       extract(epoch FROM now() - min(next.at))::bigint,
       NULL
FROM webhook_progress p
JOIN webhook_endpoints w ON w.id = p.endpoint_id AND w.status = 'ACTIVE' AND p.failing_since IS NULL
CROSS JOIN LATERAL (
    SELECT e.at FROM feed_events e
    WHERE e.organisation_id = p.organisation_id AND (e.transaction_no, e.id) > (p.transaction_no, p.event_id)
    ORDER BY e.transaction_no, e.id LIMIT 1
) next
