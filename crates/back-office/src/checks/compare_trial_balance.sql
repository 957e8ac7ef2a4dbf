-- compare_trial_balance
-- Each line of a trial balance, the same line of the one before it, and what entries that move no wallet have moved between. $3, $4 and $5
-- are what the entries of wallets have moved. `kept` is what the trial balance says of that, `walked` what it is.
SELECT s.account_id, s.provider_code, a.house, a.currency, sum(s.before)::bigint AS before, sum(s.moved)::bigint AS moved,
    sum(s.balance)::bigint AS balance, sum(s.walked)::bigint AS walked,
    CASE WHEN EXISTS (SELECT FROM trial_balances t WHERE t.at = $1 AND t.moves_since = coalesce($2, '-infinity'))
         THEN sum(s.kept)::bigint END AS kept
FROM (
    SELECT l.account_id, l.provider_code, 0 AS before, 0 AS moved, l.balance, 0 AS walked, 0 AS kept FROM trial_balance_lines l WHERE l.at = $1
    UNION ALL
    SELECT l.account_id, l.provider_code, l.balance, 0, 0, 0, 0 FROM trial_balance_lines l WHERE l.at = $2
    UNION ALL
    SELECT m.account_id, m.provider_code, 0, m.amount, 0, m.amount, 0 FROM unnest($3, $4, $5) AS m (account_id, provider_code, amount)
    UNION ALL
    SELECT m.account_id, CASE h.house WHEN 'PROVIDER_PAYABLE' THEN m.provider_code ELSE '' END, 0, 0, 0, 0, m.amount
    FROM trial_balance_moves m JOIN accounts h ON h.id = m.account_id WHERE m.at = $1
    UNION ALL
    SELECT m.account_id, CASE h.house WHEN 'PROVIDER_PAYABLE' THEN m.provider_code ELSE '' END, 0, m.amount, 0, 0, 0
    FROM moves_beside_wallets(
        coalesce((SELECT t.entry_id FROM trial_balances t WHERE t.at = $2), 0),
        (SELECT t.entry_id FROM trial_balances t WHERE t.at = $1)
    ) m JOIN accounts h ON h.id = m.account_id
) AS s (account_id, provider_code, before, moved, balance, walked, kept)
JOIN accounts a ON a.id = s.account_id
GROUP BY 1, 2, 3, 4
ORDER BY 1, 2
