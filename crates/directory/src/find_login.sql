-- find_login: the client, and each other part of the presented credentials that matches.
SELECT c.id            AS oauth_client_id,
       c.status        AS client_status,
       s.id            AS client_secret_id,
       o.id            AS organisation_id,
       o.environment   AS environment,
       o.status        AS organisation_status,
       u.id            AS user_id,
       u.password_hash AS password_hash,
       u.role          AS role,
       u.status        AS user_status
FROM oauth_clients c
LEFT JOIN client_secrets s
       ON s.oauth_client_id = c.id AND s.secret_hash = $2 AND s.revoked_at IS NULL
      AND (s.expires_at IS NULL OR s.expires_at > $5)
LEFT JOIN organisations o ON o.id = c.organisation_id AND o.code = $3
LEFT JOIN users u ON u.organisation_id = o.id AND u.username = $4
WHERE c.client_id = $1
