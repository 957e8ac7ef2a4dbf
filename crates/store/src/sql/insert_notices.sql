-- insert_notices
-- Only for recipients that have an address: few users of an integration have a phone number or an e-mail address.
INSERT INTO outbox (purchase_id, kind, recipient, channel, written_at, due_at)
SELECT n.purchase_id, n.kind, n.recipient, n.channel, n.at, n.at
FROM unnest($1, $2, $3, $4, $5) AS n (purchase_id, kind, recipient, channel, at)
JOIN purchases p ON p.id = n.purchase_id
LEFT JOIN users u ON u.id = p.user_id
WHERE n.recipient = 'BENEFICIARY'
    OR CASE n.channel WHEN 'SMS' THEN u.phone_number WHEN 'EMAIL' THEN u.email END IS NOT NULL
