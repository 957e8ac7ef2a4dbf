-- find_unlisted
SELECT p.id AS purchase, a.provider_reference, a.started_at, p.currency, p.net
FROM attempts a
JOIN purchases p ON p.id = a.purchase_id AND p.state = 'SUCCESSFUL' AND p.provider_reference = a.provider_reference
LEFT JOIN unnest($4) AS l (provider_reference) ON l.provider_reference = a.provider_reference
WHERE a.provider_code = $1 AND a.started_at >= $2 AND a.started_at < $3 AND l.provider_reference IS NULL
ORDER BY a.started_at, p.id LIMIT $5
