-- list_movements
-- At most $5 postings of wallet $1 in entries up to $4, after the posting of entry $2 whose other account is $3. Nothing orders the
-- postings of one entry. So $6 more are read of each side: then all postings of the entries at both ends of the page are there.
WITH posting AS MATERIALIZED (
    SELECT entry_id, other, -amount AS amount FROM postings_of_wallet($1, greatest($2, 0) - 1, $4, $5 + $6)
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
