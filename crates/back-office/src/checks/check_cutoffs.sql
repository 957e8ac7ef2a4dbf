-- check_cutoffs
-- A cut-off's balance is that of the cut-off before it and the postings between the two. After a wallet's last cut-off,
-- the balance of the wallet is reached in the same way. So the balance of every wallet equals its statement, and each
-- statement opens where the one before it has closed.
WITH looked_at AS (
    -- An OR of the ranges would read all cut-offs.
    SELECT * FROM cutoffs WHERE id > $1 AND id <= $2
    UNION
    SELECT * FROM cutoffs WHERE id > $3 AND id <= $4
    UNION
    SELECT * FROM cutoffs WHERE id = ANY ($5)
), checked AS (
    SELECT c.id, c.account_id, a.currency, c.balance, c.entry_id, coalesce(b.entry_id, 0) AS since, coalesce(b.balance, 0) AS before,
        a.posted, NOT EXISTS (SELECT FROM cutoffs l WHERE l.account_id = c.account_id AND l.at > c.at) AS is_last
    FROM looked_at c
    JOIN accounts a ON a.id = c.account_id
    LEFT JOIN LATERAL (
        SELECT p.entry_id, p.balance FROM cutoffs p WHERE p.account_id = c.account_id AND p.at < c.at ORDER BY p.at DESC LIMIT 1
    ) b ON true
), summed AS (
    SELECT c.*, m.sum AS moved, CASE WHEN c.is_last THEN r.sum END AS rest, m.count + r.count AS postings
    FROM checked c
    CROSS JOIN LATERAL (
        SELECT coalesce(-sum(amount), 0)::bigint AS sum, count(*) AS count FROM postings_of_wallet(c.account_id, c.since, c.entry_id)
    ) m
    CROSS JOIN LATERAL (
        -- It has none if it is not the last one.
        SELECT coalesce(-sum(amount), 0)::bigint AS sum, count(*) AS count
        FROM postings_of_wallet(c.account_id, c.entry_id, CASE WHEN c.is_last THEN 9223372036854775807 ELSE 0 END)
    ) r
), found AS (
    SELECT id, account_id, CASE
        WHEN entry_id < since THEN 'cut-off ' || id || ' ends at entry ' || entry_id || ', before entry ' || since || ' of the one before it'
        WHEN balance <> before + moved THEN 'cut-off ' || id || ' has ' || balance || ', and its postings come to ' || before + moved
        ELSE 'cut-off ' || id || ' and the postings after it come to ' || balance + rest || ', and the balance is ' || posted
    END AS finding
    FROM summed
    WHERE entry_id < since OR balance <> before + moved OR balance + rest <> posted
    ORDER BY id LIMIT 100
)
SELECT t.postings, f.id, f.account_id, f.finding
FROM (SELECT coalesce(sum(postings), 0)::bigint AS postings FROM summed) t LEFT JOIN found f ON true
