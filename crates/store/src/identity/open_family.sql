-- open_family: a new family with its first pair, unless the secret was revoked while its password was checked.
WITH family AS (
    INSERT INTO token_families
        (organisation_id, oauth_client_id, user_id, client_secret_id, created_at, expires_at)
    SELECT $1, $2, $3, id, $5, $6 FROM client_secrets WHERE id = $4 AND revoked_at IS NULL
    RETURNING id
), refresh AS (
    INSERT INTO refresh_tokens (family_id, generation, token_hash, created_at, expires_at)
    SELECT id, 1, $9, $5, $10 FROM family
)
INSERT INTO access_tokens (family_id, generation, token_hash, created_at, expires_at)
SELECT id, 1, $7, $5, $8 FROM family
RETURNING family_id, id AS access_token_id
