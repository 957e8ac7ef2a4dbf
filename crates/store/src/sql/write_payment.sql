-- write_payment
-- The wallet is locked already; the account of the house is not locked at all.
WITH wallet AS (
    UPDATE accounts SET posted = $2 WHERE id = $1
), entry AS (
    INSERT INTO journal_entries (kind, reason, reference, posted_at)
    VALUES ($3, $4, $5, clock_timestamp())
    RETURNING id, posted_at
), posting AS (
    INSERT INTO postings (entry_id, debit_account_id, credit_account_id, currency, amount)
    SELECT id, $6, $7, $8, $9 FROM entry
)
SELECT id, posted_at FROM entry
