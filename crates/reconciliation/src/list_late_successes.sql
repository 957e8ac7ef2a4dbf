-- list_late_successes
-- Purchases of before the period that a person ended as vended, in it or later.
SELECT p.id, p.created_at, p.ended_at
FROM audit_log l
JOIN purchases p ON p.id = substring(l.subject FROM '^purchase:([0-9]+)$')::bigint
WHERE l.at >= $1 AND l.action = 'purchase.resolved' AND l.details ->> 'as' = 'vended'
    AND p.provider_code = $2 AND p.state = 'SUCCESSFUL' AND p.created_at < $3
ORDER BY p.id
