-- lock_due
-- A locked purchase is being worked on at this moment. It is skipped and not waited for.
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
