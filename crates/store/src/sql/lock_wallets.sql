-- lock_wallets
-- Every transaction of money locks wallets first, in the order of their numbers, then purchases in the order of
-- theirs, and locks no account of the house. So no two of them wait for each other in a circle. The accounts of a
-- purchase never change, so reading them before its lock is no race. The lock leaves the number alone, so that whoever
-- writes a row that refers to the wallet does not wait for it.
-- The numbers are an array, worked out once: joined to, they would be worked out again for a wallet that was waited
-- for, and it would drop out of the result.
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
