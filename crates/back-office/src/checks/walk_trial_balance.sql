-- walk_trial_balance
-- What moved on system accounts between two trial balances, by the next cut-offs of wallets: at most $5 of them after wallet $3 and moment
-- $4. Between two cut-offs of a wallet lie some thousand postings. The balances of those at the moment itself are returned too.
-- OFFSET 0 lets the planner only look up the entry of each posting, and its purchase. Otherwise it could read the whole journal.
WITH cut AS MATERIALIZED (
    SELECT c.account_id, c.at, c.entry_id, c.balance, a.currency, coalesce((
        SELECT p.entry_id FROM cutoffs p WHERE p.account_id = c.account_id AND p.at < c.at ORDER BY p.at DESC LIMIT 1), 0) AS since
    FROM cutoffs c JOIN accounts a ON a.id = c.account_id
    WHERE (c.account_id, c.at) > ($3, $4) AND c.at <= $1 AND a.house IS NULL AND a.created_at < $1
        AND c.at > CASE WHEN a.created_at < $2 THEN $2 ELSE '-infinity' END
    ORDER BY c.account_id, c.at LIMIT $5
), move AS MATERIALIZED (
    SELECT m.other, h.house, m.entry_id, m.amount FROM cut
    CROSS JOIN LATERAL postings_of_wallet(cut.account_id, cut.since, cut.entry_id) m
    JOIN accounts h ON h.id = m.other
), moved AS (
    SELECT move.other AS account_id, coalesce(p.provider_code, '') AS provider_code, sum(move.amount)::bigint AS amount
    FROM move
    LEFT JOIN LATERAL (
        SELECT purchase_id FROM journal_entries WHERE move.house = 'PROVIDER_PAYABLE' AND id = move.entry_id OFFSET 0
    ) e ON true
    LEFT JOIN LATERAL (SELECT provider_code FROM purchases WHERE id = e.purchase_id OFFSET 0) p ON true
    GROUP BY 1, 2
), balance AS (
    SELECT cut.currency, sum(cut.balance)::bigint AS amount FROM cut WHERE cut.at = $1 GROUP BY 1
)
SELECT (SELECT count(*) FROM cut) AS cuts, (SELECT count(*) FROM move) AS postings,
    (SELECT account_id FROM cut ORDER BY account_id DESC, at DESC LIMIT 1) AS wallet,
    (SELECT at FROM cut ORDER BY account_id DESC, at DESC LIMIT 1) AS cut_at,
    (SELECT coalesce(array_agg(account_id), '{}') FROM moved) AS accounts,
    (SELECT coalesce(array_agg(provider_code), '{}') FROM moved) AS providers,
    (SELECT coalesce(array_agg(amount), '{}') FROM moved) AS amounts,
    (SELECT coalesce(array_agg(currency), '{}') FROM balance) AS currencies,
    (SELECT coalesce(array_agg(amount), '{}') FROM balance) AS balances
