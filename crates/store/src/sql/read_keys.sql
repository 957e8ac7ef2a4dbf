-- read_keys
-- The last purchase under each key: no other purchase can hold it. Also when the key was closed, if it was. A reserve reads
-- this after the wallets are locked, because closing a key locks them too.
SELECT k.place, p.id, p.idempotency_use, p.request_hash, p.state, p.failure, p.failure_reason, p.failure_wording, p.ended_at,
    x.closed_at, clock_timestamp() AS at
FROM unnest($1, $2, $3) AS k (place, client_id, idempotency_key)
LEFT JOIN LATERAL (
    SELECT * FROM purchases u
    WHERE u.client_id = k.client_id AND u.idempotency_key = k.idempotency_key
    ORDER BY u.idempotency_use DESC LIMIT 1
) p ON true
LEFT JOIN closed_keys x
    ON x.client_id = k.client_id AND x.idempotency_key = k.idempotency_key
