-- find_caller: everything that an access token stands for.
SELECT t.id           AS access_token_id,
       t.expires_at   AS expires_at,
       f.id           AS family_id,
       f.revoked_at   AS revoked_at,
       c.id           AS oauth_client_id,
       c.status       AS client_status,
       o.id           AS organisation_id,
       o.code         AS organisation_code,
       o.name         AS organisation_name,
       o.environment  AS environment,
       o.status       AS organisation_status,
       u.id           AS user_id,
       u.username     AS username,
       u.full_name    AS full_name,
       u.phone_number AS phone_number,
       u.email        AS email,
       u.role         AS role,
       u.status       AS user_status
FROM access_tokens t
JOIN token_families f ON f.id = t.family_id
JOIN oauth_clients c ON c.id = f.oauth_client_id
JOIN organisations o ON o.id = f.organisation_id
JOIN users u ON u.id = f.user_id
WHERE t.token_hash = $1
