-- insert_incidents
-- The same vend may become known twice. It is one incident.
INSERT INTO incidents (purchase_id, kind, at, provider_transaction, token_key_id, sealed_token)
SELECT * FROM unnest($1, $2, $3, $4, $5, $6)
ON CONFLICT (purchase_id, provider_transaction) DO NOTHING
