-- claim_messages
-- Rows that another process is claiming are skipped. A claimed message belongs to its claimant until it is due again.
-- The result contains the number of the claim, counted up to 32767.
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
