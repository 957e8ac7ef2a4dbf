-- check_cutoffs
-- A cut-off's balance is that of the cut-off before it and the postings between the two. After a wallet's last cut-off,
-- the balance of the wallet is reached in the same way. So the balance of every wallet equals its statement, and each
-- statement opens where the one before it has closed.
WITH looked_at AS (
    SELECT c.* FROM cutoffs c
    WHERE c.id > $1 AND c.id <= $2 OR c.id > $3 AND c.id <= $4 OR c.id = ANY ($5)
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
        SELECT coalesce(sum(amount), 0)::bigint AS sum, count(*) AS count FROM (
            SELECT amount FROM postings WHERE credit_account_id = c.account_id AND entry_id > c.since AND entry_id <= c.entry_id
            UNION ALL
            SELECT -amount FROM postings WHERE debit_account_id = c.account_id AND entry_id > c.since AND entry_id <= c.entry_id
        ) p
    ) m
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(amount), 0)::bigint AS sum, count(*) AS count FROM (
            SELECT amount FROM postings WHERE c.is_last AND credit_account_id = c.account_id AND entry_id > c.entry_id
            UNION ALL
            SELECT -amount FROM postings WHERE c.is_last AND debit_account_id = c.account_id AND entry_id > c.entry_id
        ) p
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
