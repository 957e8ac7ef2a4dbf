-- find_end
-- A wallet's balance and its last entry agree, because both are read in one snapshot and change in one transaction.
SELECT a.posted, clock_timestamp() AS at, greatest(
    (SELECT entry_id FROM postings WHERE credit_account_id <= a.id AND credit_account_id >= a.id
     ORDER BY credit_account_id DESC, entry_id DESC LIMIT 1),
    (SELECT entry_id FROM postings WHERE debit_account_id <= a.id AND debit_account_id >= a.id
     ORDER BY debit_account_id DESC, entry_id DESC LIMIT 1),
    0) AS entry_id
FROM accounts a WHERE a.id = $1
