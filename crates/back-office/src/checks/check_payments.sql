-- The function that posts a payment also writes its audit line, and nothing else can write the entry. The hash of the
-- next line protects the line.
SELECT e.id,
    CASE WHEN l.id IS NULL THEN 'no line of the audit log is about it'
        ELSE 'line ' || l.id || ' of the audit log tells of another payment'
    END AS finding
FROM entry e
LEFT JOIN audit_log l ON l.id = e.audit_id
LEFT JOIN LATERAL (
    SELECT count(*) AS moves, min(coalesce(d.house, c.house)) AS house, min(m.currency) AS currency, min(m.amount) AS amount,
        bool_or(c.house IS NOT NULL) AS takes,
        min(CASE WHEN d.house IS NULL THEN d.id ELSE c.id END) AS wallet
    FROM postings m JOIN accounts d ON d.id = m.debit_account_id JOIN accounts c ON c.id = m.credit_account_id
    WHERE m.entry_id = e.id AND num_nulls(d.house, c.house) = 1
) m ON true
WHERE e.kind IN ('TOP_UP', 'ADJUST') AND (
    m.moves = 1
    AND l.action = CASE e.kind WHEN 'TOP_UP' THEN 'account.topped_up' ELSE 'account.adjusted' END
    AND l.subject = 'account:' || m.wallet
    AND l.details ->> 'entry' = e.id::text
    AND l.details ->> 'against' = m.house
    AND l.details ->> 'reference' IS NOT DISTINCT FROM e.reference
    AND l.details ->> 'amount' = format('%s %s%s.%s', m.currency, CASE WHEN m.takes THEN '-' ELSE '' END,
        m.amount / 100, lpad((m.amount % 100)::text, 2, '0'))
) IS NOT TRUE
ORDER BY e.id LIMIT 100
