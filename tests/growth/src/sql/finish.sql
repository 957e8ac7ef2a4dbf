-- What the triggers would have kept.
UPDATE accounts a SET posted = w.sum, held = coalesce(o.total, 0)
FROM (
    SELECT account_id, sum(amount)::bigint AS sum FROM (
        SELECT credit_account_id AS account_id, amount FROM postings
        UNION ALL SELECT debit_account_id, -amount FROM postings
    ) AS moved GROUP BY account_id
) AS w
LEFT JOIN (
    SELECT account_id, sum(total)::bigint AS total FROM purchases WHERE state = 'REVIEW' GROUP BY account_id
) AS o USING (account_id)
WHERE a.id = w.account_id AND a.house IS NULL;
-- The wallets were opened and loaded before their first purchase.
UPDATE accounts a SET created_at = e.at - interval '366 days' FROM history_end e WHERE a.house IS NULL;
UPDATE journal_entries j SET posted_at = e.at - interval '366 days' FROM history_end e WHERE j.kind = 'TOP_UP';
