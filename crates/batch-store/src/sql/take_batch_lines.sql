-- take_batch_lines
-- The lines that can be bought now, up to the free slots of each provider. Organisations take turns, as with purchases that are due
-- (lock_due): the next line is of the one that has the fewest in hand. A line whose worker has died is taken whatever its batch does,
-- because it may have been bought. A line that another worker is taking is skipped.
WITH waiting AS MATERIALIZED (
    SELECT s.provider_code, s.slots, b.organisation_id, b.status, l.batch_id, l.number, l.due_at
    FROM unnest($1, $2) AS s (provider_code, slots)
    JOIN batches b ON b.status <> 'FINISHED'
    CROSS JOIN LATERAL (
        SELECT l.batch_id, l.number, l.due_at FROM batch_lines l
        WHERE l.provider_code = s.provider_code AND l.batch_id = b.id AND l.due_at <= now()
            AND (l.state = 'BUYING' OR l.state = 'WAITING' AND b.status = 'RUNNING')
        ORDER BY l.due_at, l.number LIMIT 4 * s.slots
    ) l
), turns AS MATERIALIZED (
    SELECT w.*, coalesce(h.purchases, 0)
        + row_number() OVER (PARTITION BY w.provider_code, w.organisation_id ORDER BY w.due_at, w.batch_id, w.number) AS turn
    FROM waiting w
    LEFT JOIN unnest($3, $4, $5) AS h (provider_code, organisation_id, purchases)
        ON h.provider_code = w.provider_code AND h.organisation_id = w.organisation_id
), taken AS MATERIALIZED (
    SELECT l.batch_id, l.number
    FROM unnest($1, $2) AS s (provider_code, slots)
    CROSS JOIN LATERAL (
        SELECT l.batch_id, l.number
        FROM (
            SELECT * FROM turns t WHERE t.provider_code = s.provider_code ORDER BY t.turn, t.due_at, t.number LIMIT 4 * s.slots
        ) t
        JOIN batch_lines l ON l.batch_id = t.batch_id AND l.number = t.number
            -- Read again under the lock. Written so that no other index serves it: each line is found by its key.
            AND (l.state IN ('WAITING', 'BUYING') AND l.due_at <= now()) IS TRUE
        ORDER BY t.turn, t.due_at, t.number
        LIMIT s.slots
        FOR NO KEY UPDATE OF l SKIP LOCKED
    ) l
)
UPDATE batch_lines l
SET state = 'BUYING', fence = l.fence + 1, due_at = clock_timestamp() + $6 * interval '1 millisecond'
FROM taken, batches b
WHERE l.batch_id = taken.batch_id AND l.number = taken.number AND b.id = l.batch_id
RETURNING l.batch_id, l.number, l.fence, l.tries, b.status = 'RUNNING' AS is_running, b.organisation_id, b.client_id, b.user_id,
    b.access_token_id, b.request_id, b.account_id, b.language, l.product, l.provider_code, l.subscriber_identifier,
    l.beneficiary_phone_number, l.currency, l.amount, l.charges_on_top, l.comment, l.external_reference, l.requester_sms,
    l.beneficiary_sms, l.requester_email, l.beneficiary_email, batch_line_key(l.batch_id, l.number) AS idempotency_key
