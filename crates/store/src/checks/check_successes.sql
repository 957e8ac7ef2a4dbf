-- check_successes
-- The other way round no purchase can be paid twice: an index admits one settlement of each.
SELECT p.id,
    CASE WHEN e.id IS NULL THEN 'it is successful, and no entry settles it'
        ELSE 'entry ' || e.id || ' takes ' || coalesce(paid.total, 0) || ' instead of ' || p.total || ' in minor units'
    END AS finding
FROM purchases p
LEFT JOIN journal_entries e ON e.purchase_id = p.id AND e.kind = 'SETTLE'
LEFT JOIN LATERAL (
    SELECT sum(m.amount)::bigint AS total FROM postings m
    WHERE m.entry_id = e.id AND m.debit_account_id = p.account_id
) paid ON true
WHERE (p.id > $1 AND p.id <= $2 OR p.id > $3 AND p.id <= $4 OR p.id = ANY ($5))
    AND p.state = 'SUCCESSFUL' AND p.total IS DISTINCT FROM paid.total
ORDER BY p.id LIMIT 100
