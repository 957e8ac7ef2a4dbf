-- look_for_events
-- For each reader, the events that it has not seen: up to which position the next $5 were examined, and the position before the first
-- one of its types. A reader without types wants all. As in list_events, only events below the horizon count.
WITH feed AS MATERIALIZED (
    SELECT n.base + pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS horizon FROM feed_numbering n
)
SELECT r.number AS reader, seen.transaction_no, seen.id, seen.is_wanted
FROM unnest($1, $2, $3, $4) WITH ORDINALITY AS r (organisation_id, transaction_no, id, kinds, number)
CROSS JOIN LATERAL (
    SELECT e.transaction_no, e.id, e.is_wanted
    FROM (
        SELECT e.transaction_no, e.id, r.kinds = '' OR e.kind = ANY (string_to_array(r.kinds, ',')) AS is_wanted
        FROM feed_events e
        WHERE e.organisation_id = r.organisation_id AND (e.transaction_no, e.id) > (r.transaction_no, r.id)
            AND e.transaction_no < (SELECT horizon FROM feed)
        ORDER BY e.transaction_no, e.id LIMIT $5
    ) e
    -- The first one that is wanted, or else the last one.
    ORDER BY e.is_wanted DESC, CASE WHEN e.is_wanted THEN e.transaction_no ELSE -e.transaction_no END,
        CASE WHEN e.is_wanted THEN e.id ELSE -e.id END
    LIMIT 1
) AS seen
