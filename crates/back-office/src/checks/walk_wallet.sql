-- walk_wallet
-- The first wallet at or after $1, and the sum of its postings after entry $2, at most $3 on each side. If a side
-- reached that limit, its last entry may be incomplete: that entry and what follows are left for the next look. The one
-- wallet is written as a range of wallets, so that no other index has the requested order. Otherwise the planner could
-- choose the index of entries, because it assumes that every wallet is as busy as the busiest. It would then read the
-- whole journal for an idle wallet.
WITH wallet AS MATERIALIZED (
    SELECT id, currency, posted FROM accounts WHERE house IS NULL AND id >= $1 ORDER BY id LIMIT 1
), posting AS MATERIALIZED (
    SELECT 'in' AS side, p.entry_id, p.amount FROM wallet CROSS JOIN LATERAL (
        SELECT entry_id, amount FROM postings
        WHERE (credit_account_id, entry_id) > (wallet.id, $2) AND credit_account_id <= wallet.id
        ORDER BY credit_account_id, entry_id LIMIT $3
    ) p
    UNION ALL
    SELECT 'out', p.entry_id, -p.amount FROM wallet CROSS JOIN LATERAL (
        SELECT entry_id, amount FROM postings
        WHERE (debit_account_id, entry_id) > (wallet.id, $2) AND debit_account_id <= wallet.id
        ORDER BY debit_account_id, entry_id LIMIT $3
    ) p
), cut AS (
    SELECT min(last) AS at FROM (
        SELECT max(entry_id) AS last FROM posting GROUP BY side HAVING count(*) >= $3
    ) AS sides
)
SELECT wallet.id, wallet.currency, wallet.posted, (SELECT count(*) FROM posting) AS postings, cut.at - 1 AS until,
    (SELECT coalesce(sum(amount), 0)::bigint FROM posting WHERE cut.at IS NULL OR entry_id < cut.at) AS sum
FROM wallet CROSS JOIN cut
