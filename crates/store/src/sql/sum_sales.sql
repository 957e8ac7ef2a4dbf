-- sum_sales
-- What was settled out of each wallet in the entries of a day. Each settlement owes its provider the net amount in one
-- posting, so that posting stands for it. Both ends of a range name the wallet and the entry, so that the planner takes the index of both.
SELECT r.date, p.product, p.provider_code, p.currency, count(*) AS count, sum(p.total)::bigint AS total,
    sum(p.net)::bigint AS net, sum(p.charge)::bigint AS charge, sum(p.commission)::bigint AS commission
FROM unnest($1, $2, $3, $4) AS r (date, wallet, after, until)
CROSS JOIN LATERAL (
    SELECT m.entry_id FROM postings m
    WHERE (m.debit_account_id, m.entry_id) > (r.wallet, r.after) AND (m.debit_account_id, m.entry_id) <= (r.wallet, r.until)
        AND m.credit_account_id = ANY (ARRAY (SELECT id FROM accounts WHERE house = 'PROVIDER_PAYABLE'))
) AS m
JOIN journal_entries e ON e.id = m.entry_id AND e.kind = 'SETTLE'
JOIN purchases p ON p.id = e.purchase_id
GROUP BY r.date, p.product, p.provider_code, p.currency
ORDER BY r.date, p.product, p.provider_code, p.currency
