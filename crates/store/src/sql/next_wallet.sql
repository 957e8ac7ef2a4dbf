-- next_wallet
-- The first wallet after $1, and whether $2 postings on one side have come after its last cut-off. The one wallet is
-- written as a range of wallets: see walk_wallet.sql.
WITH wallet AS MATERIALIZED (
    SELECT id FROM accounts WHERE house IS NULL AND id > $1 ORDER BY id LIMIT 1
), last AS MATERIALIZED (
    SELECT wallet.id, coalesce((
        SELECT c.entry_id FROM cutoffs c WHERE c.account_id = wallet.id ORDER BY c.at DESC LIMIT 1), 0) AS entry_id
    FROM wallet
)
SELECT last.id,
    EXISTS (SELECT FROM postings p
        WHERE (p.credit_account_id, p.entry_id) > (last.id, last.entry_id) AND p.credit_account_id <= last.id
        ORDER BY p.credit_account_id, p.entry_id OFFSET $2 - 1 LIMIT 1)
    OR EXISTS (SELECT FROM postings p
        WHERE (p.debit_account_id, p.entry_id) > (last.id, last.entry_id) AND p.debit_account_id <= last.id
        ORDER BY p.debit_account_id, p.entry_id OFFSET $2 - 1 LIMIT 1) AS is_behind
FROM last
