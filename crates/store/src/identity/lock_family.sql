-- lock_family: one row, so no order is needed. Everything that exchanges a token of the family or revokes it waits
-- here, and reads the family and its tokens only afterwards, in a statement of its own: one that waits for a lock
-- sees what it did not lock as it was before.
SELECT f.id AS family_id
FROM token_families f
JOIN refresh_tokens r ON r.family_id = f.id
WHERE r.token_hash = $1
FOR NO KEY UPDATE OF f
