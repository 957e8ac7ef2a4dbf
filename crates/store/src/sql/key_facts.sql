-- key_facts
-- The last purchase under each key: no other purchase can hold it. Also whether the key was closed after the request
-- that uses it arrived. A reserve reads this after the wallets are locked, because closing a key locks them too. The
-- age of a request is measured just after the transaction began.
SELECT k.place, p.id, p.idempotency_use, p.request_hash, p.state, p.failure, p.failure_reason, p.failure_wording, p.ended_at,
    x.closed_at IS NOT NULL AS is_closed, clock_timestamp() AS at
FROM unnest($1, $2, $3, $4) AS k (place, client_id, idempotency_key, age_us)
LEFT JOIN LATERAL (
    SELECT * FROM purchases u
    WHERE u.client_id = k.client_id AND u.idempotency_key = k.idempotency_key
    ORDER BY u.idempotency_use DESC LIMIT 1
) p ON true
LEFT JOIN closed_keys x
    ON x.client_id = k.client_id AND x.idempotency_key = k.idempotency_key
    AND x.closed_at >= now() - k.age_us * interval '1 microsecond'
