-- read_settlements
-- Successful purchases with the postings of their settlement. The ledger's own rules calculate the expected postings.
SELECT p.id, p.currency, p.account_id, p.commission_account_id, p.net, p.charge, p.commission, e.id AS entry_id,
    payable.id AS payable, income.id AS income, expense.id AS expense, m.debits, m.credits, m.amounts,
    coalesce(m.currencies <@ ARRAY[p.currency], true) AS is_of_one_currency
FROM purchases p
LEFT JOIN journal_entries e ON e.purchase_id = p.id AND e.kind = 'SETTLE'
LEFT JOIN accounts payable ON payable.house = 'PROVIDER_PAYABLE' AND payable.currency = p.currency
LEFT JOIN accounts income ON income.house = 'FEE_INCOME' AND income.currency = p.currency
LEFT JOIN accounts expense ON expense.house = 'COMMISSION_EXPENSE' AND expense.currency = p.currency
CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(debit_account_id), '{}') AS debits, coalesce(array_agg(credit_account_id), '{}') AS credits,
        coalesce(array_agg(amount), '{}') AS amounts, array_agg(currency) AS currencies
    FROM postings WHERE entry_id = e.id
) m
WHERE (p.id > $1 AND p.id <= $2 OR p.id = ANY ($3)) AND p.state = 'SUCCESSFUL'
