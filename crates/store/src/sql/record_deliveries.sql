-- record_deliveries
-- A report that a message was sent counts from any claimant. A report that it was not sent counts only from the last
-- claimant.
UPDATE outbox o
SET sent_at = CASE WHEN d.is_sent THEN clock_timestamp() END,
    due_at = coalesce(clock_timestamp() + d.pause_ms * interval '1 millisecond', o.due_at),
    given_up_at = CASE WHEN d.given_up_because IS NOT NULL THEN clock_timestamp() END,
    given_up_because = d.given_up_because
FROM unnest($1, $2, $3, $4, $5, $6, $7)
    AS d (purchase_id, recipient, channel, attempt, is_sent, pause_ms, given_up_because)
WHERE o.purchase_id = d.purchase_id AND o.recipient = d.recipient AND o.channel = d.channel
    AND o.sent_at IS NULL
    AND (d.is_sent OR (o.attempts = d.attempt AND o.given_up_at IS NULL))
