-- read_untold
-- Purchases whose end the feed does not tell, or tells otherwise. Those that ended before there was a feed have no events, and old
-- events are deleted. OFFSET 0 lets the planner only look up the event of each purchase. Otherwise it compared each purchase with each
-- event, while its statistics were from a time with few events.
SELECT p.id, CASE
    WHEN e.id IS NULL THEN 'it is ' || p.state || ', and the feed does not tell of its end'
    ELSE 'it is ' || p.state || ', and the feed tells of ' || e.kind
END AS finding
FROM purchases p
CROSS JOIN feed_numbering n
LEFT JOIN feed_deletions d ON d.organisation_id = p.organisation_id
LEFT JOIN LATERAL (
    SELECT id, kind FROM feed_events WHERE purchase_id = p.id AND kind IN ('purchase.succeeded', 'purchase.failed') OFFSET 0
) e ON true
WHERE (p.id > $1 AND p.id <= $2 OR p.id = ANY ($3)) AND (
    e.id IS NULL AND p.ended_at > greatest(n.began_at, d.at)
    OR e.kind <> CASE p.state WHEN 'SUCCESSFUL' THEN 'purchase.succeeded' WHEN 'FAILED' THEN 'purchase.failed' ELSE '' END
)
