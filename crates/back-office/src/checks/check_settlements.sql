-- check_settlements
WITH entry AS MATERIALIZED (
    SELECT id, kind, purchase_id FROM journal_entries WHERE id > $1 AND id <= $2 AND kind = 'SETTLE'
    UNION
    SELECT id, kind, purchase_id FROM journal_entries WHERE id > $3 AND id <= $4 AND kind = 'SETTLE'
    UNION
    SELECT id, kind, purchase_id FROM journal_entries WHERE id = ANY ($5) AND kind = 'SETTLE'
)
SELECT e.id, 'it settles purchase ' || e.purchase_id || ', which is ' || coalesce(p.state, 'not there') AS finding
FROM entry e
LEFT JOIN purchases p ON p.id = e.purchase_id
WHERE p.state IS DISTINCT FROM 'SUCCESSFUL'
ORDER BY e.id LIMIT 100
