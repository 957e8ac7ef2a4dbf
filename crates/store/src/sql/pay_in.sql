-- pay_in
-- The wallet is locked by its update; the account of the house is not locked at all.
WITH wallet AS (
    UPDATE accounts SET posted = posted + $4
    WHERE id = $1 AND currency = $3 AND organisation_id IS NOT NULL AND status = 'ACTIVE'
    RETURNING id, organisation_id
), entry AS (
    INSERT INTO journal_entries (kind, reason, posted_at)
    SELECT 'TOP_UP', $5, clock_timestamp() FROM wallet
    RETURNING id
), posting AS (
    INSERT INTO postings (entry_id, debit_account_id, credit_account_id, currency, amount)
    SELECT entry.id, $2, wallet.id, $3, $4 FROM entry, wallet
    RETURNING entry_id
)
SELECT wallet.organisation_id, EXISTS (SELECT FROM posting) AS is_posted FROM wallet
