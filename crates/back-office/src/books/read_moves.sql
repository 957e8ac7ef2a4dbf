-- book_moves
-- What moved a system account, or the wallets of a category, between two trial balances, or up to now without the second. Seen from a
-- wallet, what the system account lost is what the wallet gained. What is of no organisation is real money, as in production.
SELECT CASE WHEN m.is_payout THEN 'PAYOUT' ELSE m.kind END AS cause, m.organisation_id, nullif(m.provider_code, '') AS provider_code,
    nullif(m.product, '') AS product, o.environment, a.currency, m.moves,
    CASE WHEN m.is_commission AND $3 = 'COMMISSION' THEN -m.amount ELSE m.amount END AS amount
FROM kept_sums_of_wallets($1, $2) m JOIN accounts a ON a.id = m.account_id JOIN organisations o ON o.id = m.organisation_id
WHERE a.house = $3 OR m.is_commission AND $3 = 'COMMISSION'
UNION ALL
SELECT m.kind, m.organisation_id, nullif(m.provider_code, ''), nullif(m.product, ''), coalesce(o.environment, 'PRODUCTION'), a.currency,
    m.moves, m.amount
FROM moves_beside_wallets(
    (SELECT t.entry_id FROM trial_balances t WHERE t.at = $1),
    coalesce((SELECT t.entry_id FROM trial_balances t WHERE t.at = $2), 9223372036854775807)
) m JOIN accounts a ON a.id = m.account_id LEFT JOIN organisations o ON o.id = m.organisation_id
WHERE a.house = $3
