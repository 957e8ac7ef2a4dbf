-- check_due
SELECT p.id, p.state,
    coalesce(extract(epoch FROM now() - p.due_at)::bigint, -1) AS late_s
FROM purchases p
WHERE p.state IN ('IN_FLIGHT', 'IN_DOUBT', 'RETRY_DUE', 'REVIEW')
    AND (p.due_at IS NULL OR p.due_at < now() - interval '15 minutes')
ORDER BY p.due_at NULLS FIRST LIMIT 100
