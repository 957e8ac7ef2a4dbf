-- lock_family: one row, so no lock order is needed. Every transaction that exchanges a token of the family or revokes
-- it waits here. It reads the family and its tokens only afterwards, in a statement of its own, because a statement
-- that waits for a lock sees the rows that it did not lock as they were before the wait.
SELECT f.id AS family_id
FROM token_families f
JOIN refresh_tokens r ON r.family_id = f.id
WHERE r.token_hash = $1
FOR NO KEY UPDATE OF f
