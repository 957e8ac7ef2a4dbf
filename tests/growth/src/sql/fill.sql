-- Each purchase of the batch, with what is computed from its place in the year. Entries are numbered in the order of the ends, as a wallet's
-- lock does it.
INSERT INTO batch
SELECT r.id, m.organisation_id, m.client_id, m.user_id, m.account_id, m.commission_account_id, r.product, r.provider_code,
    r.subscriber, r.net, r.ending, r.external_reference, r.idempotency_key, r.sealed_token, r.sealed_reply, t.at, t.ended_at,
    r.ending LIKE 'VENDED%',
    to_char(t.at AT TIME ZONE 'UTC', 'YYYYMMDDHH24MISS') || '-' || lpad((r.id % 999999 + 1)::text, 6, '0'),
    lpad((hashint8extended(r.id, 7) & 9223372036854775807)::text, 19, '0'),
    CASE WHEN r.ending LIKE 'VENDED%' THEN nextval('journal_entry_ids') END
FROM history_end e, unnest($3::bigint[], $4::integer[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::text[], $10::text[],
    $11::text[], $12::bytea[], $13::bytea[]) WITH ORDINALITY
    AS r (id, merchant, product, provider_code, subscriber, net, ending, external_reference, idempotency_key, sealed_token,
        sealed_reply, n)
JOIN merchants m ON m.place = r.merchant
CROSS JOIN LATERAL (
    SELECT s.at, s.at + CASE r.ending WHEN 'OPEN' THEN NULL WHEN 'VENDED_LATER' THEN interval '40 s' ELSE interval '1.2 s' END AS ended_at
    FROM (
        SELECT e.at - (interval '365 days' * (($1::bigint - $2::bigint - r.n + 1)::double precision / $1::bigint)) AS at
    ) AS s
) AS t
ORDER BY t.ended_at, r.n;
