-- As check_payments, for what was paid out. A payout of commission is a correction, so its line of the audit log is checked there; here
-- it must be one out of a wallet that collects commission.
SELECT e.id, 'it is no payout that a line of the audit log tells of' AS finding
FROM entry e
LEFT JOIN payouts o ON o.entry_id = e.id
LEFT JOIN reversals r ON r.reversed_by = e.id
LEFT JOIN audit_log l ON l.id = o.audit_id
LEFT JOIN LATERAL (
    SELECT count(*) AS moves, min(m.currency) AS currency, min(m.amount) AS amount, min(d.house) AS debit, min(c.house) AS credit,
        min(d.category) AS category
    FROM postings m JOIN accounts d ON d.id = m.debit_account_id JOIN accounts c ON c.id = m.credit_account_id
    WHERE m.entry_id = e.id
) m ON true
CROSS JOIN LATERAL (VALUES (
    CASE o.kind WHEN 'PROVIDER' THEN 'PROVIDER_PAYABLE' WHEN 'FEES' THEN 'FEE_INCOME' END,
    CASE o.kind WHEN 'PROVIDER' THEN 'provider' WHEN 'FEES' THEN 'fees' END
)) AS x (house, noun)
WHERE (e.kind = 'PAYOUT' OR o.entry_id IS NOT NULL)
    AND CASE WHEN o.kind = 'COMMISSION' THEN
        e.kind = 'ADJUST' AND m.moves = 1 AND m.category = 'COMMISSION' AND m.credit = 'FUNDING' AND o.audit_id = e.audit_id
    ELSE
        e.kind = 'PAYOUT' AND m.moves = 1
        AND m.debit = CASE WHEN r.entry_id IS NULL THEN x.house ELSE 'FUNDING' END
        AND m.credit = CASE WHEN r.entry_id IS NULL THEN 'FUNDING' ELSE x.house END
        AND l.action = x.noun || CASE WHEN r.entry_id IS NULL THEN '.paid_out' ELSE '.payout_reversed' END
        AND l.subject = x.noun || ':' || coalesce(o.provider_code, m.currency)
        AND l.details ->> 'entry' = e.id::text
        AND l.details ->> 'reference' IS NOT DISTINCT FROM e.reference
        AND l.details ->> 'reverses' IS NOT DISTINCT FROM r.entry_id::text
        AND l.details ->> 'amount' = format('%s %s%s.%s', m.currency, CASE WHEN r.entry_id IS NULL THEN '' ELSE '-' END,
            m.amount / 100, lpad((m.amount % 100)::text, 2, '0'))
    END IS NOT TRUE
ORDER BY e.id LIMIT 100
