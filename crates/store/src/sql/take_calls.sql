-- take_calls
-- A block of $2 six-digit numbers, and the second that makes them unique. The second is the database's own, and never
-- before that of the last block. It is one later if the numbers start again from 1. Taking a block locks the counter,
-- so blocks never overlap.
INSERT INTO provider_call_counters AS c (provider_client_id, next_number, last_instant)
VALUES ($1, 1 + $2, date_trunc('second', clock_timestamp()))
ON CONFLICT (provider_client_id) DO UPDATE SET
    next_number = CASE WHEN c.next_number + $2 > 1000000 THEN 1 + $2 ELSE c.next_number + $2 END,
    last_instant = greatest(
        date_trunc('second', clock_timestamp()),
        c.last_instant + CASE WHEN c.next_number + $2 > 1000000 THEN interval '1 second' ELSE interval '0' END
    )
RETURNING next_number - $2 AS first, next_number - 1 AS last, last_instant AS at
