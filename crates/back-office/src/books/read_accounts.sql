-- account_moves
-- What moved every system account, and the wallets of each organisation together, between two trial balances, or up to now without the
-- second. What a wallet gained is what the system account on the other side lost. All is divided by the environment of the organisation
-- that it is of; what is of no organisation, such as a payout, is real money.
WITH of_wallets AS MATERIALIZED (
    SELECT a.house, a.currency, m.organisation_id, nullif(m.provider_code, '') AS provider_code,
        CASE WHEN m.is_payout THEN 'PAYOUT' ELSE m.kind END AS cause, m.amount
    FROM kept_sums_of_wallets($1, $2) m JOIN accounts a ON a.id = m.account_id
), reversed AS MATERIALIZED (
    -- Payments into wallets that were undone. They are corrections, and few.
    SELECT h.house, h.currency, w.organisation_id, p.amount
    FROM reversals v
    JOIN journal_entries undone ON undone.id = v.entry_id AND undone.kind = 'TOP_UP'
    JOIN postings p ON p.entry_id = v.reversed_by
    JOIN accounts w ON w.id = p.debit_account_id
    JOIN accounts h ON h.id = p.credit_account_id
    LEFT JOIN cutoffs b ON b.account_id = w.id AND b.at = $1
    LEFT JOIN cutoffs c ON c.account_id = w.id AND c.at = $2::timestamptz
    WHERE v.reversed_by > CASE WHEN w.created_at < $1 THEN b.entry_id ELSE 0 END
        AND ($2::timestamptz IS NULL OR v.reversed_by <= c.entry_id)
), divided AS (
    SELECT w.house, w.currency, w.organisation_id, w.provider_code, w.cause, w.amount FROM of_wallets w
    UNION ALL
    SELECT r.house, r.currency, r.organisation_id, NULL, s.cause, s.sign * r.amount
    FROM reversed r CROSS JOIN (VALUES ('REVERSED', 1), ('ADJUST', -1)) AS s (cause, sign)
), moved AS (
    SELECT d.house, NULL::bigint AS organisation_id, o.environment, d.provider_code, d.currency, d.cause, d.amount
    FROM divided d JOIN organisations o ON o.id = d.organisation_id
    UNION ALL
    SELECT 'WALLETS', d.organisation_id, o.environment, NULL, d.currency, d.cause, -d.amount
    FROM divided d JOIN organisations o ON o.id = d.organisation_id
    UNION ALL
    SELECT a.house, NULL, coalesce(o.environment, 'PRODUCTION'), nullif(m.provider_code, ''), a.currency, m.kind, m.amount
    FROM moves_beside_wallets(
        (SELECT t.entry_id FROM trial_balances t WHERE t.at = $1),
        coalesce((SELECT t.entry_id FROM trial_balances t WHERE t.at = $2), 9223372036854775807)
    ) m JOIN accounts a ON a.id = m.account_id LEFT JOIN organisations o ON o.id = m.organisation_id
)
SELECT m.house AS account, m.organisation_id, m.environment,
    CASE m.house WHEN 'PROVIDER_PAYABLE' THEN m.provider_code END AS provider_code, m.currency, m.cause, sum(m.amount)::bigint AS amount
FROM moved m GROUP BY 1, 2, 3, 4, 5, 6
