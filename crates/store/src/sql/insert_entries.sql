-- insert_entries
-- Each entry has its number before it is written, so that its moves can name it.
WITH entry AS MATERIALIZED (
    SELECT nextval('journal_entry_ids') AS id, e.*
    FROM unnest($1, $2, $3) WITH ORDINALITY AS e (kind, purchase_id, posted_at, ordinal)
), written AS (
    INSERT INTO journal_entries (id, kind, purchase_id, posted_at)
    SELECT id, kind, purchase_id, posted_at FROM entry
)
INSERT INTO postings (entry_id, debit_account_id, credit_account_id, currency, amount)
SELECT entry.id, m.debit, m.credit, m.currency, m.amount
FROM unnest($4, $5, $6, $7, $8) AS m (ordinal, debit, credit, currency, amount)
JOIN entry USING (ordinal)
