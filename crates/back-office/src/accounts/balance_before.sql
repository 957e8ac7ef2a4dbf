-- balance_before
-- What a wallet had before an entry: the balance of its last cut-off before that, and the postings between.
SELECT a.currency, (coalesce(c.balance, 0) - coalesce(moved.amount, 0))::bigint AS balance
FROM accounts a
LEFT JOIN LATERAL (
    SELECT c.entry_id, c.balance FROM cutoffs c WHERE c.account_id = a.id AND c.entry_id < $2 ORDER BY c.entry_id DESC LIMIT 1
) AS c ON true
CROSS JOIN LATERAL (
    SELECT sum(m.amount) AS amount FROM postings_of_wallet(a.id, coalesce(c.entry_id, 0), $2 - 1) m
) AS moved
WHERE a.id = $1
