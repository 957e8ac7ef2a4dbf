-- last_uses
-- The purchase that was made last under each key. No other can hold it.
SELECT k.place, p.id, p.idempotency_use, p.request_hash, p.state, p.failure, p.failure_reason, p.failure_wording, p.ended_at,
    clock_timestamp() AS at
FROM unnest($1, $2, $3) AS k (place, client_id, idempotency_key)
CROSS JOIN LATERAL (
    SELECT * FROM purchases u
    WHERE u.client_id = k.client_id AND u.idempotency_key = k.idempotency_key
    ORDER BY u.idempotency_use DESC LIMIT 1
) p
