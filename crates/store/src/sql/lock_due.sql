-- lock_due
-- Organisations take turns. The next purchase is of the one that has the fewest in hand, so a backlog never delays others.
-- A locked purchase is being worked on at this moment. It is skipped and not waited for: more are read than there are slots.
WITH RECURSIVE waiting AS (
    -- The organisations with open purchases, each found by one step in the index.
    SELECT s.provider_code, s.slots, first.organisation_id
    FROM unnest($1, $2) AS s (provider_code, slots)
    CROSS JOIN LATERAL (
        SELECT p.organisation_id FROM purchases p
        WHERE p.provider_code = s.provider_code AND p.due_at IS NOT NULL
        ORDER BY p.organisation_id LIMIT 1
    ) first
    UNION ALL
    SELECT w.provider_code, w.slots, next.organisation_id
    FROM waiting w
    CROSS JOIN LATERAL (
        SELECT p.organisation_id FROM purchases p
        WHERE p.provider_code = w.provider_code AND p.organisation_id > w.organisation_id AND p.due_at IS NOT NULL
        ORDER BY p.organisation_id LIMIT 1
    ) next
), due AS MATERIALIZED (
    SELECT w.provider_code, w.slots, oldest.id, oldest.due_at, oldest.place + coalesce(h.purchases, 0) AS turn
    FROM waiting w
    LEFT JOIN unnest($3, $4, $5) AS h (provider_code, organisation_id, purchases)
        ON h.provider_code = w.provider_code AND h.organisation_id = w.organisation_id
    CROSS JOIN LATERAL (
        SELECT p.id, p.due_at, row_number() OVER (ORDER BY p.due_at) AS place
        FROM purchases p
        WHERE p.provider_code = w.provider_code AND p.organisation_id = w.organisation_id AND p.due_at <= now()
        ORDER BY p.due_at LIMIT 4 * w.slots
    ) oldest
)
SELECT taken.id
FROM unnest($1, $2) AS s (provider_code, slots)
CROSS JOIN LATERAL (
    SELECT p.id
    FROM (
        SELECT d.id, d.turn, d.due_at FROM due d
        WHERE d.provider_code = s.provider_code
        ORDER BY d.turn, d.due_at LIMIT 4 * s.slots
    ) d
    JOIN purchases p ON p.id = d.id AND p.due_at <= now()
    ORDER BY d.turn, d.due_at
    LIMIT s.slots
    FOR NO KEY UPDATE OF p SKIP LOCKED
) taken
