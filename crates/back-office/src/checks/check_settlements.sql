SELECT e.id, 'it settles purchase ' || e.purchase_id || ', which is ' || coalesce(p.state, 'not there') AS finding
FROM entry e
LEFT JOIN purchases p ON p.id = e.purchase_id
WHERE e.kind = 'SETTLE' AND p.state IS DISTINCT FROM 'SUCCESSFUL'
ORDER BY e.id LIMIT 100
