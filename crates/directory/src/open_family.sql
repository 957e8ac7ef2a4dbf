-- open_family: a new family with its first pair, if everything that the login depends on is still valid. What it
-- depends on is locked in its current version until the family exists. So a transaction that replaces the password,
-- revokes or suspends either waits and finds the family, or was first and is seen here. Logins share these locks, and
-- do not wait for each other.
WITH standing AS (
    SELECT o.id AS organisation_id, c.id AS oauth_client_id, u.id AS user_id, s.id AS client_secret_id
    FROM organisations o
    JOIN oauth_clients c ON c.organisation_id = o.id
    JOIN client_secrets s ON s.oauth_client_id = c.id
    JOIN users u ON u.organisation_id = o.id
    WHERE o.id = $1 AND o.status = 'ACTIVE'
      AND c.id = $2 AND c.status = 'ACTIVE'
      AND u.id = $3 AND u.status = 'ACTIVE' AND u.password_hash = $11
      AND s.id = $4 AND s.revoked_at IS NULL AND (s.expires_at IS NULL OR s.expires_at > $5)
    FOR SHARE
), family AS (
    INSERT INTO token_families
        (organisation_id, oauth_client_id, user_id, client_secret_id, created_at, expires_at)
    SELECT organisation_id, oauth_client_id, user_id, client_secret_id, $5, $6 FROM standing
    RETURNING id
), refresh AS (
    INSERT INTO refresh_tokens (family_id, generation, token_hash, created_at, expires_at)
    SELECT id, 1, $9, $5, $10 FROM family
)
INSERT INTO access_tokens (family_id, generation, token_hash, created_at, expires_at)
SELECT id, 1, $7, $5, $8 FROM family
RETURNING family_id, id AS access_token_id
