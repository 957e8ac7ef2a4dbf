SELECT e.id, 'it is not what is owed for a vend after the end of purchase ' || e.purchase_id AS finding
FROM entry e
LEFT JOIN purchases p ON p.id = e.purchase_id
LEFT JOIN LATERAL (
    SELECT count(*) AS moves, min(d.house) AS debit, min(c.house) AS credit, min(m.amount) AS amount, min(m.currency) AS currency
    FROM postings m JOIN accounts d ON d.id = m.debit_account_id JOIN accounts c ON c.id = m.credit_account_id
    WHERE m.entry_id = e.id
) m ON true
WHERE e.kind = 'INCIDENT' AND (
    p.ended_at IS NOT NULL AND m.moves = 1 AND m.debit = 'SUSPENSE' AND m.credit = 'PROVIDER_PAYABLE'
    AND m.amount = p.net AND m.currency = p.currency
    AND (SELECT count(*) FROM incidents i WHERE i.purchase_id = p.id)
        = (SELECT count(*) FROM journal_entries o WHERE o.purchase_id = p.id AND o.kind = 'INCIDENT')
) IS NOT TRUE
ORDER BY e.id LIMIT 100
