-- ask_again
-- The events of organisation $1 from ($3, $4) to ($5, $6) are due again for endpoint $2, if it wants them and has had them: later
-- ones come anyway. At most $7, the oldest first. The count is -1 if the endpoint is not active.
WITH e AS (
    SELECT e.id, e.status, e.event_types, p.transaction_no, p.event_id
    FROM webhook_endpoints e
    JOIN webhook_progress p ON p.endpoint_id = e.id
    WHERE e.organisation_id = $1 AND e.id = $2 AND e.status <> 'DELETED'
), again AS (
    INSERT INTO webhook_retries (endpoint_id, transaction_no, event_id, attempts, due_at)
    SELECT e.id, f.transaction_no, f.id, 0, now()
    FROM e
    CROSS JOIN LATERAL (
        SELECT f.transaction_no, f.id FROM feed_events f
        WHERE f.organisation_id = $1 AND (f.transaction_no, f.id) >= ($3, $4) AND (f.transaction_no, f.id) <= ($5, $6)
            AND (f.transaction_no, f.id) <= (e.transaction_no, e.event_id)
            AND (cardinality(e.event_types) = 0 OR f.kind = ANY (e.event_types))
        ORDER BY f.transaction_no, f.id LIMIT $7
    ) AS f
    WHERE e.status = 'ACTIVE'
    ON CONFLICT (endpoint_id, transaction_no, event_id) DO UPDATE SET attempts = 0, due_at = now()
    RETURNING transaction_no, event_id
), last AS (
    SELECT transaction_no, event_id FROM again ORDER BY transaction_no DESC, event_id DESC LIMIT 1
)
SELECT CASE WHEN e.status = 'ACTIVE' THEN (SELECT count(*) FROM again) ELSE -1 END AS events, last.transaction_no, last.event_id
FROM e LEFT JOIN last ON true
