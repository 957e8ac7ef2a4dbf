-- write_payment
-- The wallet is locked already. The function posts the entry, which moves the balance, and writes the audit line.
SELECT entry_id AS id, entry_posted_at AS posted_at FROM post_payment($1, $2, $3, $4, $5, $6, $7, $8)
