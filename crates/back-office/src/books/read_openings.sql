-- account_openings
-- What every system account has in a trial balance, of each environment, and the wallets of each organisation together. Money of staging
-- is not real.
SELECT a.house AS account, NULL::bigint AS organisation_id, e.environment, nullif(l.provider_code, '') AS provider_code, a.currency,
    'OPENING' AS cause, e.amount
FROM trial_balance_lines l
JOIN accounts a ON a.id = l.account_id
CROSS JOIN LATERAL (VALUES ('STAGING', l.staging), ('PRODUCTION', l.balance - l.staging)) AS e (environment, amount)
WHERE l.at = $1
UNION ALL
SELECT 'WALLETS', a.organisation_id, o.environment, NULL, a.currency, 'OPENING', sum(c.balance)::bigint
FROM accounts a JOIN organisations o ON o.id = a.organisation_id JOIN cutoffs c ON c.account_id = a.id AND c.at = $1
WHERE a.house IS NULL AND a.created_at < $1
GROUP BY a.organisation_id, o.environment, a.currency
