-- list_movements
-- At most $5 postings of wallet $1 in entries up to $4, after the posting of entry $2 whose other account is $3. Each half
-- is read in the order of its index; the one wallet is written as a range of wallets, so that the planner takes no other
-- index (see walk_wallet.sql). An index does not order the postings of one entry. Each half reads $6 more, so that it has
-- all postings of the entries at both ends of the page.
WITH posting AS MATERIALIZED (
    (SELECT entry_id, debit_account_id AS other, amount FROM postings
     WHERE (credit_account_id, entry_id) >= ($1, $2) AND credit_account_id <= $1 AND entry_id <= $4
     ORDER BY credit_account_id, entry_id LIMIT $5 + $6)
    UNION ALL
    (SELECT entry_id, credit_account_id, -amount FROM postings
     WHERE (debit_account_id, entry_id) >= ($1, $2) AND debit_account_id <= $1 AND entry_id <= $4
     ORDER BY debit_account_id, entry_id LIMIT $5 + $6)
), page AS MATERIALIZED (
    SELECT entry_id, other, amount FROM posting WHERE (entry_id, other) > ($2, $3) ORDER BY entry_id, other LIMIT $5
)
SELECT page.entry_id, page.other, page.amount, e.posted_at, e.kind, a.house AS counterpart, e.purchase_id,
    coalesce(p.reference, e.reference) AS reference, p.external_reference, p.subscriber_identifier, p.product,
    p.provider_code
FROM page
JOIN journal_entries e ON e.id = page.entry_id
JOIN accounts a ON a.id = page.other
LEFT JOIN purchases p ON p.id = e.purchase_id
ORDER BY page.entry_id, page.other
