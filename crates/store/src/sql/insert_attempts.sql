-- insert_attempts
INSERT INTO attempts (purchase_id, number, provider_code, provider_reference, started_at)
SELECT * FROM unnest($1, $2, $3, $4, $5)
