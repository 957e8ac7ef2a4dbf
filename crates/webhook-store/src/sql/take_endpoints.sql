-- take_webhook_endpoints
-- The endpoints of a lane that have something due: an event that is tried again, or one behind their position. An endpoint that
-- another worker is taking is skipped. A taken one belongs to its worker until it is due again.
WITH horizon AS MATERIALIZED (
    SELECT n.base + pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS transaction_no FROM feed_numbering n
), due AS MATERIALIZED (
    SELECT p.endpoint_id
    FROM webhook_progress p
    JOIN webhook_endpoints e ON e.id = p.endpoint_id
    WHERE p.is_slow = $1 AND p.due_at <= now() AND e.status = 'ACTIVE'
        AND (
            EXISTS (SELECT FROM webhook_retries r WHERE r.endpoint_id = p.endpoint_id AND r.due_at <= now())
            OR EXISTS (
                SELECT FROM feed_events f
                WHERE f.organisation_id = p.organisation_id AND (f.transaction_no, f.id) > (p.transaction_no, p.event_id)
                    AND f.transaction_no < (SELECT transaction_no FROM horizon)
            )
        )
    ORDER BY p.due_at LIMIT $2
    FOR UPDATE OF p SKIP LOCKED
)
UPDATE webhook_progress p
SET due_at = clock_timestamp() + $3 * interval '1 millisecond', fence = p.fence + 1
FROM due, webhook_endpoints e
WHERE p.endpoint_id = due.endpoint_id AND e.id = due.endpoint_id
RETURNING p.endpoint_id, p.organisation_id, p.fence, p.transaction_no, p.event_id, p.failing_since, p.failed_rounds, e.url,
    e.event_types, e.include_tokens
