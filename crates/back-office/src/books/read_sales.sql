-- read_sales
-- What was settled between two trial balances, or up to now without the second. Each settlement owes its provider the net amount in one
-- posting, so that posting stands for it. $4 is the day of the report.
SELECT m.organisation_id, $4::date AS date, m.product, m.provider_code, a.currency, m.moves AS count, m.total, m.amount AS net, m.charge, m.commission
FROM kept_sums_of_wallets($1, $2) m JOIN accounts a ON a.id = m.account_id
WHERE a.house = 'PROVIDER_PAYABLE' AND m.kind = 'SETTLE' AND ($3::bigint IS NULL OR m.organisation_id = $3)
