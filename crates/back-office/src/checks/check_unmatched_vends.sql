-- check_unmatched_vends
SELECT e.id, 'it is not what is owed for an unmatched vend' AS finding
FROM journal_entries e
LEFT JOIN unmatched_vends u ON u.entry_id = e.id
LEFT JOIN LATERAL (
    SELECT count(*) AS moves, min(d.house) AS debit, min(c.house) AS credit, min(m.amount) AS amount, min(m.currency) AS currency
    FROM postings m JOIN accounts d ON d.id = m.debit_account_id JOIN accounts c ON c.id = m.credit_account_id
    WHERE m.entry_id = e.id
) m ON true
WHERE (e.id > $1 AND e.id <= $2 OR e.id > $3 AND e.id <= $4 OR e.id = ANY ($5)) AND e.kind = 'UNMATCHED_VEND'
    AND (
        m.moves = 1 AND m.debit = 'SUSPENSE' AND m.credit = 'PROVIDER_PAYABLE' AND m.amount = u.net AND m.currency = u.currency
    ) IS NOT TRUE
ORDER BY e.id LIMIT 100
