-- check_unmatched_vends
WITH entry AS MATERIALIZED (
    SELECT id, kind FROM journal_entries WHERE id > $1 AND id <= $2 AND kind = 'UNMATCHED_VEND'
    UNION
    SELECT id, kind FROM journal_entries WHERE id > $3 AND id <= $4 AND kind = 'UNMATCHED_VEND'
    UNION
    SELECT id, kind FROM journal_entries WHERE id = ANY ($5) AND kind = 'UNMATCHED_VEND'
)
SELECT e.id, 'it is not what is owed for an unmatched vend' AS finding
FROM entry e
LEFT JOIN unmatched_vends u ON u.entry_id = e.id
LEFT JOIN LATERAL (
    SELECT count(*) AS moves, min(d.house) AS debit, min(c.house) AS credit, min(m.amount) AS amount, min(m.currency) AS currency
    FROM postings m JOIN accounts d ON d.id = m.debit_account_id JOIN accounts c ON c.id = m.credit_account_id
    WHERE m.entry_id = e.id
) m ON true
WHERE (
        m.moves = 1 AND m.debit = 'SUSPENSE' AND m.credit = 'PROVIDER_PAYABLE' AND m.amount = u.net AND m.currency = u.currency
) IS NOT TRUE
ORDER BY e.id LIMIT 100
