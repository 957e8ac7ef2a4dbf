-- record_repeated_deliveries
-- As record_deliveries.
UPDATE repeated_messages o
SET sent_at = CASE WHEN d.is_sent THEN clock_timestamp() END,
    due_at = coalesce(clock_timestamp() + d.pause_ms * interval '1 millisecond', o.due_at),
    given_up_at = CASE WHEN d.given_up_because IS NOT NULL THEN clock_timestamp() END,
    given_up_because = d.given_up_because
FROM unnest($1, $2, $3, $4, $5, $6) AS d (purchase_id, number, attempt, is_sent, pause_ms, given_up_because)
WHERE o.purchase_id = d.purchase_id AND o.number = d.number
    AND o.sent_at IS NULL
    AND (d.is_sent OR (o.attempts = d.attempt AND o.given_up_at IS NULL))
