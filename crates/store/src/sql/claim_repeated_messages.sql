-- claim_repeated_messages
-- As claim_messages.
WITH due AS (
    SELECT purchase_id, number FROM repeated_messages
    WHERE sent_at IS NULL AND given_up_at IS NULL AND due_at <= now() - $3 * interval '1 millisecond'
    ORDER BY due_at LIMIT $1
    FOR UPDATE SKIP LOCKED
)
UPDATE repeated_messages o
SET due_at = clock_timestamp() + $2 * interval '1 millisecond', attempts = least(o.attempts + 1, 32767)
FROM due d
WHERE o.purchase_id = d.purchase_id AND o.number = d.number
RETURNING o.purchase_id, o.number, o.phone_number, o.attempts, o.written_at, clock_timestamp() AS at
