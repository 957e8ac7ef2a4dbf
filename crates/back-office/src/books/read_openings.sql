-- account_openings
-- What every system account has in a trial balance, and the wallets of each organisation together. What FUNDING has of wallets in
-- staging is no real money, and a line of its own: people have posted its entries one by one, so they are added up from the first.
WITH of_staging AS MATERIALIZED (
    SELECT f.id, f.currency, sum(s.amount)::bigint AS amount
    FROM accounts f
    CROSS JOIN LATERAL (
        SELECT p.credit_account_id AS wallet, p.entry_id, -p.amount AS amount FROM postings p WHERE p.debit_account_id = f.id
        UNION ALL
        SELECT p.debit_account_id, p.entry_id, p.amount FROM postings p WHERE p.credit_account_id = f.id
    ) AS s
    JOIN accounts w ON w.id = s.wallet AND w.created_at < $1
    JOIN organisations o ON o.id = w.organisation_id AND o.environment = 'STAGING'
    JOIN cutoffs c ON c.account_id = w.id AND c.at = $1 AND c.entry_id >= s.entry_id
    WHERE f.house = 'FUNDING'
    GROUP BY f.id, f.currency
)
SELECT a.house AS account, NULL::bigint AS organisation_id, CASE a.house WHEN 'FUNDING' THEN 'PRODUCTION' END AS environment,
    nullif(l.provider_code, '') AS provider_code, a.currency, 'OPENING' AS cause, l.balance - coalesce(s.amount, 0) AS amount
FROM trial_balance_lines l JOIN accounts a ON a.id = l.account_id LEFT JOIN of_staging s ON s.id = a.id
WHERE l.at = $1
UNION ALL
SELECT 'FUNDING', NULL, 'STAGING', NULL, s.currency, 'OPENING', s.amount FROM of_staging s
UNION ALL
SELECT 'WALLETS', a.organisation_id, o.environment, NULL, a.currency, 'OPENING', sum(c.balance)::bigint
FROM accounts a JOIN organisations o ON o.id = a.organisation_id JOIN cutoffs c ON c.account_id = a.id AND c.at = $1
WHERE a.house IS NULL AND a.created_at < $1
GROUP BY a.organisation_id, o.environment, a.currency
