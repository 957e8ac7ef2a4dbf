-- lock_due
-- Whoever holds one of them at this moment is at work on it: it is left out and not waited for.
SELECT due.id
FROM unnest($1, $2) AS s (provider_code, slots)
CROSS JOIN LATERAL (
    SELECT p.id
    FROM purchases p
    WHERE p.provider_code = s.provider_code AND p.due_at <= now()
    ORDER BY p.due_at
    LIMIT s.slots
    FOR NO KEY UPDATE SKIP LOCKED
) due
