-- lock_due
-- Organisations take turns. The next purchase is of the one that has the fewest in hand, so a backlog never delays others.
-- A locked purchase is being worked on at this moment. It is skipped and not waited for: candidates are four times the slots.
-- The index keeps an entry of each purchase that has ended until a vacuum, and those of the oldest come first. So a caller that knows
-- since when the oldest one is due lets the claim begin there.
WITH RECURSIVE waiting AS (
    -- The organisations with open purchases, from that time on, each found by one step in the index.
    SELECT s.provider_code, s.since, 4 * s.slots AS candidates, first.organisation_id
    FROM (SELECT provider_code, slots, coalesce(since, '-infinity') AS since
          FROM unnest($1, $2, $3) AS s (provider_code, slots, since)) AS s
    CROSS JOIN LATERAL (
        SELECT p.organisation_id FROM purchases p
        WHERE p.provider_code = s.provider_code AND p.due_at >= s.since
        ORDER BY p.organisation_id LIMIT 1
    ) first
    UNION ALL
    SELECT w.provider_code, w.since, w.candidates, next.organisation_id
    FROM waiting w
    CROSS JOIN LATERAL (
        SELECT p.organisation_id FROM purchases p
        WHERE p.provider_code = w.provider_code AND p.organisation_id > w.organisation_id AND p.due_at >= w.since
        ORDER BY p.organisation_id LIMIT 1
    ) next
), counted AS (
    SELECT w.provider_code, w.since, w.candidates, w.organisation_id, coalesce(h.purchases, 0) AS in_hand,
        row_number() OVER fewest_first AS place, sum(h.purchases) OVER fewest_first AS in_hand_so_far
    FROM waiting w
    LEFT JOIN unnest($4, $5, $6) AS h (provider_code, organisation_id, purchases)
        ON h.provider_code = w.provider_code AND h.organisation_id = w.organisation_id
    WINDOW fewest_first AS (
        PARTITION BY w.provider_code ORDER BY coalesce(h.purchases, 0) ROWS UNBOUNDED PRECEDING)
), levelled AS (
    -- The turn at which there are enough candidates if every organisation has enough due. Only so many are read of each: to read
    -- all candidates of each organisation costs more than the rest of a claim.
    SELECT c.provider_code, c.since, c.candidates, c.organisation_id, c.in_hand,
        greatest(0, min(ceil((c.candidates + coalesce(c.in_hand_so_far, 0)) / c.place)) OVER (PARTITION BY c.provider_code)
            - c.in_hand)::bigint AS share
    FROM counted c
), first_due AS MATERIALIZED (
    SELECT l.provider_code, oldest.id, oldest.due_at, l.in_hand + oldest.place AS turn
    FROM levelled l
    CROSS JOIN LATERAL (
        SELECT p.id, p.due_at, row_number() OVER (ORDER BY p.due_at) AS place
        FROM purchases p
        WHERE p.provider_code = l.provider_code AND p.organisation_id = l.organisation_id
            AND p.due_at BETWEEN l.since AND now()
        ORDER BY p.due_at LIMIT l.share
    ) oldest
), found AS MATERIALIZED (
    SELECT f.provider_code, count(*) AS candidates FROM first_due f GROUP BY f.provider_code
), due AS MATERIALIZED (
    SELECT * FROM first_due
    UNION ALL
    -- Some have less due, so the others may have more turns.
    SELECT l.provider_code, further.id, further.due_at, l.in_hand + further.place AS turn
    FROM levelled l
    LEFT JOIN found f ON f.provider_code = l.provider_code
    CROSS JOIN LATERAL (
        SELECT p.id, p.due_at, row_number() OVER (ORDER BY p.due_at) AS place
        FROM purchases p
        WHERE p.provider_code = l.provider_code AND p.organisation_id = l.organisation_id
            AND p.due_at BETWEEN l.since AND now()
        ORDER BY p.due_at LIMIT l.candidates OFFSET l.share
    ) further
    WHERE l.candidates > coalesce(f.candidates, 0)
), oldest AS MATERIALIZED (
    -- Not known while an organisation has so much in hand that none of its purchases was read.
    SELECT d.provider_code, min(d.due_at) AS due_at
    FROM due d
    WHERE NOT EXISTS (SELECT FROM levelled l WHERE l.provider_code = d.provider_code AND l.share = 0)
    GROUP BY d.provider_code
)
SELECT taken.id, o.due_at AS oldest
FROM unnest($1, $2) AS s (provider_code, slots)
CROSS JOIN LATERAL (
    SELECT locked.id
    FROM (
        SELECT d.id, d.turn, d.due_at FROM due d
        WHERE d.provider_code = s.provider_code
        ORDER BY d.turn, d.due_at LIMIT 4 * s.slots
    ) d
    -- Each by its key. In a long history the statistics know of no open purchase. Then a planner that is free to join reads all that are
    -- due, and the candidates again for each of them. `coalesce` keeps it from the index of what is due.
    CROSS JOIN LATERAL (
        SELECT p.id FROM purchases p
        WHERE p.id = d.id AND coalesce(p.due_at, 'infinity') <= now()
        FOR NO KEY UPDATE SKIP LOCKED
    ) locked
    ORDER BY d.turn, d.due_at
    LIMIT s.slots
) taken
LEFT JOIN oldest o ON o.provider_code = s.provider_code
