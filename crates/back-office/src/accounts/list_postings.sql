-- list_postings
-- Each half of the page is read from the end of an index, so its cost does not depend on the age of the wallet. The one wallet is written
-- as a range of wallets, so that no other index has the requested order: the index of entries would be read whole for an idle wallet.
WITH page AS (
    SELECT entry_id FROM (
        (SELECT entry_id FROM postings WHERE (debit_account_id, entry_id) < ($1, $2) AND debit_account_id >= $1
         GROUP BY debit_account_id, entry_id ORDER BY debit_account_id DESC, entry_id DESC LIMIT $3)
        UNION
        (SELECT entry_id FROM postings WHERE (credit_account_id, entry_id) < ($1, $2) AND credit_account_id >= $1
         GROUP BY credit_account_id, entry_id ORDER BY credit_account_id DESC, entry_id DESC LIMIT $3)
    ) AS newest
    ORDER BY entry_id DESC LIMIT $3
)
SELECT e.id AS entry_id, e.posted_at, e.kind,
    CASE WHEN p.credit_account_id = $1 THEN p.amount ELSE -p.amount END AS amount,
    coalesce(other.house, other.id::text) AS counterpart, e.purchase_id, e.reference, e.reason, undone.entry_id AS reverses,
    undoing.reversed_by
FROM page
JOIN journal_entries e ON e.id = page.entry_id
JOIN postings p ON p.entry_id = e.id AND $1 IN (p.debit_account_id, p.credit_account_id)
JOIN accounts other ON other.id = CASE WHEN p.credit_account_id = $1 THEN p.debit_account_id ELSE p.credit_account_id END
LEFT JOIN reversals undone ON undone.reversed_by = e.id
LEFT JOIN reversals undoing ON undoing.entry_id = e.id
ORDER BY e.id DESC, p.amount DESC
