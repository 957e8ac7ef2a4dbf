-- low_wallets
-- What a wallet has used since a cut-off is what it had then and was paid since, less what it has. Every wallet has a cut-off at each
-- midnight, so a week of sales is not added up: of postings only the payments are read, which are few.
SELECT w.id AS account_id, w.currency, w.posted - w.held AS available, per_day.used
FROM accounts w
CROSS JOIN LATERAL (
    SELECT c.at, c.entry_id, c.balance FROM cutoffs c
    WHERE c.account_id = w.id AND c.at > now() - interval '8 days' ORDER BY c.at LIMIT 1
) since
CROSS JOIN LATERAL (
    SELECT coalesce(sum(p.amount), 0)::bigint AS amount FROM postings p
    WHERE p.credit_account_id = w.id AND p.entry_id > since.entry_id
) paid
CROSS JOIN LATERAL (
    SELECT ((since.balance + paid.amount - w.posted)::numeric * 86400 / extract(epoch FROM now() - since.at))::bigint AS used
) per_day
-- A day is needed to say what a day is.
WHERE w.house IS NULL AND w.category <> 'COMMISSION' AND w.status = 'ACTIVE' AND since.at <= now() - interval '1 day'
    AND w.posted - w.held < per_day.used
ORDER BY w.id
