-- insert_replies
-- While a purchase is in review, an enquiry that proves nothing may return the same reply many times. Once an attempt
-- has eight stored replies, one such reply per day is stored. A reply that proves something is always stored.
INSERT INTO provider_replies (purchase_id, attempt, at, key_id, sealed_reply)
SELECT u.purchase_id, u.attempt, u.at, u.key_id, u.sealed_reply
FROM unnest($1, $2, $3, $4, $5, $6) AS u (purchase_id, attempt, at, key_id, sealed_reply, proves_nothing)
WHERE NOT u.proves_nothing OR NOT (
    SELECT count(*) >= 8 AND max(r.at) > u.at - interval '1 day'
    FROM provider_replies r WHERE r.purchase_id = u.purchase_id AND r.attempt = u.attempt
)
