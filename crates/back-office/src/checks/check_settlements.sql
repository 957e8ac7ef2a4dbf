-- check_settlements
SELECT e.id, 'it settles purchase ' || e.purchase_id || ', which is ' || coalesce(p.state, 'not there') AS finding
FROM journal_entries e
LEFT JOIN purchases p ON p.id = e.purchase_id
WHERE (e.id > $1 AND e.id <= $2 OR e.id > $3 AND e.id <= $4 OR e.id = ANY ($5))
    AND e.kind = 'SETTLE' AND p.state IS DISTINCT FROM 'SUCCESSFUL'
ORDER BY e.id LIMIT 100
