-- check_entries
SELECT e.id,
    CASE WHEN m.moves = 0 THEN 'it moves nothing'
        ELSE m.crooked || ' of its ' || m.moves || ' moves leave their currency'
    END AS finding
FROM journal_entries e
CROSS JOIN LATERAL (
    SELECT count(*) AS moves,
        count(*) FILTER (WHERE d.currency IS DISTINCT FROM p.currency OR c.currency IS DISTINCT FROM p.currency) AS crooked
    FROM postings p
    LEFT JOIN accounts d ON d.id = p.debit_account_id
    LEFT JOIN accounts c ON c.id = p.credit_account_id
    WHERE p.entry_id = e.id
) m
WHERE (e.id > $1 AND e.id <= $2 OR e.id > $3 AND e.id <= $4 OR e.id = ANY ($5))
    AND (m.moves = 0 OR m.crooked > 0)
ORDER BY e.id LIMIT 100
