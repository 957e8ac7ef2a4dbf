-- sum_sales
-- What was settled out of each wallet in the entries of a day. Each settlement owes its provider the net amount in one
-- posting, so that posting stands for it. OFFSET 0 lets the planner only look up the entry of each posting, and its purchase.
SELECT r.date, p.product, p.provider_code, p.currency, count(*) AS count, sum(p.total)::bigint AS total,
    sum(p.net)::bigint AS net, sum(p.charge)::bigint AS charge, sum(p.commission)::bigint AS commission
FROM unnest($1, $2, $3, $4) AS r (date, wallet, after, until)
CROSS JOIN LATERAL (
    SELECT m.entry_id FROM postings_of_wallet(r.wallet, r.after, r.until) m
    WHERE m.amount > 0 AND m.other = ANY (ARRAY (SELECT id FROM accounts WHERE house = 'PROVIDER_PAYABLE'))
) AS m
CROSS JOIN LATERAL (SELECT purchase_id FROM journal_entries WHERE id = m.entry_id AND kind = 'SETTLE' OFFSET 0) e
CROSS JOIN LATERAL (SELECT product, provider_code, currency, total, net, charge, commission FROM purchases WHERE id = e.purchase_id OFFSET 0) p
GROUP BY r.date, p.product, p.provider_code, p.currency
ORDER BY r.date, p.product, p.provider_code, p.currency
