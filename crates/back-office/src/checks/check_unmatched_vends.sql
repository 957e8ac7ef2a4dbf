-- One that was withdrawn is reversed by an entry of the same kind, and no wallet was charged for it.
SELECT e.id, 'it is not what is owed for an unmatched vend' AS finding
FROM entry e
LEFT JOIN reversals r ON r.reversed_by = e.id
LEFT JOIN unmatched_vends u ON u.entry_id = coalesce(r.entry_id, e.id)
LEFT JOIN LATERAL (
    SELECT count(*) AS moves, min(d.house) AS debit, min(c.house) AS credit, min(m.amount) AS amount, min(m.currency) AS currency
    FROM postings m JOIN accounts d ON d.id = m.debit_account_id JOIN accounts c ON c.id = m.credit_account_id
    WHERE m.entry_id = e.id
) m ON true
WHERE e.kind = 'UNMATCHED_VEND' AND (
    m.moves = 1 AND m.amount = u.net AND m.currency = u.currency
    AND m.debit = CASE WHEN r.entry_id IS NULL THEN 'SUSPENSE' ELSE 'PROVIDER_PAYABLE' END
    AND m.credit = CASE WHEN r.entry_id IS NULL THEN 'PROVIDER_PAYABLE' ELSE 'SUSPENSE' END
    AND (r.entry_id IS NULL OR EXISTS (
        SELECT FROM unmatched_vend_decisions d WHERE d.unmatched_vend_id = u.id AND d.entry_id IS NULL
    ))
) IS NOT TRUE
ORDER BY e.id LIMIT 100
