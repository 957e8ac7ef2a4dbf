-- close_key
-- The transaction that closes a key has locked the wallets of the organisation, so no other transaction writes the rows
-- of this client. It also deletes a few rows that have become useless: the reserve refuses a request that old.
WITH useless AS (
    DELETE FROM closed_keys WHERE client_id = $1 AND idempotency_key IN (
        SELECT idempotency_key FROM closed_keys
        WHERE client_id = $1 AND closed_at < now() - interval '1 hour' AND idempotency_key <> $2
        ORDER BY closed_at LIMIT 8
    )
)
INSERT INTO closed_keys (client_id, idempotency_key, closed_at) VALUES ($1, $2, clock_timestamp())
ON CONFLICT (client_id, idempotency_key) DO UPDATE SET closed_at = excluded.closed_at
