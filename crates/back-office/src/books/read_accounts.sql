-- account_moves
-- What moved every system account, and the wallets of each organisation together, between two trial balances, or up to now without the
-- second. What a wallet gained is what the system account on the other side lost.
WITH of_wallets AS MATERIALIZED (
    SELECT a.house, a.currency, m.organisation_id, nullif(m.provider_code, '') AS provider_code,
        CASE WHEN m.is_payout THEN 'PAYOUT' ELSE m.kind END AS cause, m.amount
    FROM moves_of_wallets($1, $2) m JOIN accounts a ON a.id = m.account_id
), moved AS (
    SELECT w.house, NULL::bigint AS organisation_id, w.provider_code, w.currency, w.cause, w.amount FROM of_wallets w
    UNION ALL
    SELECT 'WALLETS', w.organisation_id, NULL, w.currency, w.cause, -w.amount FROM of_wallets w
    UNION ALL
    SELECT a.house, NULL, nullif(m.provider_code, ''), a.currency, m.kind, m.amount
    FROM moves_beside_wallets(
        (SELECT t.entry_id FROM trial_balances t WHERE t.at = $1),
        coalesce((SELECT t.entry_id FROM trial_balances t WHERE t.at = $2), 9223372036854775807)
    ) m JOIN accounts a ON a.id = m.account_id
)
SELECT m.house AS account, m.organisation_id, CASE m.house WHEN 'PROVIDER_PAYABLE' THEN m.provider_code END AS provider_code, m.currency,
    m.cause, sum(m.amount)::bigint AS amount
FROM moved m GROUP BY 1, 2, 3, 4, 5
