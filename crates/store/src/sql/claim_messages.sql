-- claim_messages
-- What others are just claiming is passed over. Whoever claims has them to itself until they are due again, and is told
-- the how-manieth claim that is; beyond 32767 nobody counts.
WITH due AS (
    SELECT purchase_id, recipient, channel FROM outbox
    WHERE channel = $1 AND sent_at IS NULL AND given_up_at IS NULL AND due_at <= now() - $4 * interval '1 millisecond'
    ORDER BY due_at LIMIT $2
    FOR UPDATE SKIP LOCKED
)
UPDATE outbox o
SET due_at = clock_timestamp() + $3 * interval '1 millisecond', attempts = least(o.attempts + 1, 32767)
FROM due d
WHERE o.purchase_id = d.purchase_id AND o.recipient = d.recipient AND o.channel = d.channel
RETURNING o.purchase_id, o.kind, o.recipient, o.channel, o.attempts, o.written_at, clock_timestamp() AS at
