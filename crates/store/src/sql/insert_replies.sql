-- insert_replies
INSERT INTO provider_replies (purchase_id, attempt, at, key_id, sealed_reply)
SELECT * FROM unnest($1, $2, $3, $4, $5)
