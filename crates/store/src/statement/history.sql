-- A busy wallet (3) and its commission (4), and idle wallets (5 to 34), in 200,000 entries. They were cut off at two moments, between which
-- lie twenty entries, and at the end. The rows bypass the triggers. With a shorter history the planner would be right to read all of it.
SET session_replication_role = replica;
INSERT INTO accounts (house, name, currency) VALUES ('PROVIDER_PAYABLE', 'PROVIDER_PAYABLE', 'BWP'), ('FEE_INCOME', 'FEE_INCOME', 'BWP');
INSERT INTO accounts (organisation_id, name, currency, category, posted, held, created_at)
    SELECT 1, c || n, 'BWP', c, 0, 0, now() - interval '9 days'
    FROM unnest(ARRAY['CURRENT', 'COMMISSION', 'TOPUP']) WITH ORDINALITY AS w (c, place), generate_series(1, CASE c WHEN 'TOPUP' THEN 30 ELSE 1 END) AS n
    ORDER BY place;
INSERT INTO journal_entries (id, kind, purchase_id, posted_at)
    SELECT n, 'SETTLE', n, now() - interval '8 days' + n * interval '3 s' FROM generate_series(1, 200000) AS n;
INSERT INTO postings (entry_id, debit_account_id, credit_account_id, currency, amount)
    SELECT n, m.debit, m.credit, 'BWP', 100
    FROM generate_series(1, 200000) AS n CROSS JOIN (VALUES (3, 1), (3, 2), (2, 4)) AS m (debit, credit);
INSERT INTO cutoffs (account_id, at, entry_id, balance)
    SELECT a, m.at::timestamptz, CASE WHEN a >= 5 THEN 0 ELSE m.entry END, 0
    FROM generate_series(3, 34) AS a
    CROSS JOIN (VALUES ('2026-01-01', 20000), ('2026-01-02', 20020), ('2026-01-09', 200000)) AS m (at, entry)
    ORDER BY a, m.entry;
ANALYZE
