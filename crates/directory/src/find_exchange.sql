-- find_exchange: the presented refresh token, its family, client, organisation and user, and the pair that it was
-- exchanged for. Returns a row only if the client has proved its identity, by a live secret of its own ($3) or by a
-- live access token of the same family ($5).
SELECT r.generation         AS generation,
       r.expires_at         AS expires_at,
       r.exchanged_at       AS exchanged_at,
       f.id                 AS family_id,
       f.expires_at         AS family_expires_at,
       f.revoked_at         AS revoked_at,
       f.organisation_id    AS organisation_id,
       c.status             AS client_status,
       o.status             AS organisation_status,
       u.status             AS user_status,
       u.role               AS role,
       u.id                 AS user_id,
       c.id                 AS oauth_client_id,
       next_refresh.token_hash   AS successor_hash,
       next_refresh.exchanged_at AS successor_exchanged_at,
       next_access.expires_at    AS successor_access_expires_at
FROM refresh_tokens r
JOIN token_families f ON f.id = r.family_id
JOIN oauth_clients c ON c.id = f.oauth_client_id
JOIN organisations o ON o.id = f.organisation_id
JOIN users u ON u.id = f.user_id
LEFT JOIN refresh_tokens next_refresh
       ON next_refresh.family_id = f.id AND next_refresh.generation = r.generation + 1
LEFT JOIN access_tokens next_access
       ON next_access.family_id = f.id AND next_access.generation = r.generation + 1
WHERE r.token_hash = $1 AND ($2 IS NULL OR c.client_id = $2)
  AND (EXISTS (
           SELECT FROM client_secrets s
           WHERE s.oauth_client_id = c.id AND s.secret_hash = $3 AND s.revoked_at IS NULL
             AND (s.expires_at IS NULL OR s.expires_at > $4))
       OR EXISTS (
           SELECT FROM access_tokens a
           WHERE a.family_id = f.id AND a.token_hash = $5 AND a.expires_at > $4))
