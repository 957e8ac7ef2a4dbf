-- OFFSET 0 lets the planner look up the postings of each entry, and then their accounts. Otherwise it could read all postings that there
-- are, or all accounts for each entry.
SELECT id,
    CASE WHEN count(entry_id) = 0 THEN 'it moves nothing'
        ELSE count(*) FILTER (WHERE is_crooked) || ' of its ' || count(*) || ' moves leave their currency'
    END AS finding
FROM (
    SELECT m.id, m.entry_id, d.currency IS DISTINCT FROM m.currency OR c.currency IS DISTINCT FROM m.currency AS is_crooked
    FROM (
        SELECT e.id, p.entry_id, p.debit_account_id, p.credit_account_id, p.currency
        FROM entry e
        LEFT JOIN LATERAL (
            SELECT entry_id, debit_account_id, credit_account_id, currency FROM postings WHERE entry_id = e.id OFFSET 0
        ) p ON true
        OFFSET 0
    ) m
    LEFT JOIN accounts d ON d.id = m.debit_account_id
    LEFT JOIN accounts c ON c.id = m.credit_account_id
) checked
GROUP BY id
HAVING count(entry_id) = 0 OR count(*) FILTER (WHERE is_crooked) > 0
ORDER BY id LIMIT 100
