-- check_holds
-- In both directions: a hold without open purchases, and open purchases of an account that holds nothing or is no
-- wallet.
SELECT coalesce(a.id, o.account_id) AS account_id, coalesce(a.currency, o.currency) AS currency,
    coalesce(a.held, 0) AS held, coalesce(o.total, 0) AS open
FROM (SELECT id, currency, held FROM accounts WHERE house IS NULL) a
FULL JOIN (
    SELECT p.account_id, p.currency, sum(p.total)::bigint AS total
    FROM purchases p
    WHERE p.state IN ('IN_FLIGHT', 'IN_DOUBT', 'RETRY_DUE', 'REVIEW')
    GROUP BY p.account_id, p.currency
) o ON o.account_id = a.id AND o.currency = a.currency
WHERE coalesce(a.held, 0) <> coalesce(o.total, 0)
ORDER BY 1 LIMIT 100
