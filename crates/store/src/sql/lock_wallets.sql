-- lock_wallets
-- Every transaction that moves money locks wallets first, in the order of their numbers, then purchases in the order of
-- theirs. It locks no system account. So no two of them can deadlock. The accounts of a purchase never change, so
-- reading them before the lock is no race. The lock does not cover the wallet's number, so a transaction that writes a
-- row with a reference to the wallet does not wait for it. The numbers are an array that is computed once. In a join
-- they would be computed again for a wallet that was waited for, and that wallet would drop out of the result.
SELECT id, organisation_id, currency, category, status, handling, posted, held
FROM accounts
WHERE organisation_id IS NOT NULL AND id = ANY (ARRAY (
    SELECT unnest($1)
    UNION
    SELECT account_id FROM purchases WHERE purchases.id = ANY ($2)
    UNION
    SELECT commission_account_id FROM purchases WHERE purchases.id = ANY ($2)
))
ORDER BY id
FOR NO KEY UPDATE
