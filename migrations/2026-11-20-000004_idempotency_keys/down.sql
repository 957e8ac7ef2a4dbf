-- Forgets which confirm was made under which key: a confirm that is sent again buys again.
DROP TABLE closed_keys;
DROP FUNCTION refuse_to_reopen_a_key;
DROP TRIGGER purchases_refuse_a_held_key ON purchases;
DROP FUNCTION refuse_a_held_key;
ALTER TABLE purchases DROP COLUMN idempotency_key, DROP COLUMN idempotency_use, DROP COLUMN request_hash;
