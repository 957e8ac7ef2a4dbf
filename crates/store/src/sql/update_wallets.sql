-- update_wallets
UPDATE accounts
SET posted = w.posted, held = w.held
FROM unnest($1, $2, $3) AS w (id, posted, held)
WHERE accounts.id = w.id
