-- find_callers
-- One row per caller of a group: whether it may still debit. This checks revocation and not expiry. For a line of a batch, the batch
-- vouches in place of the token: it must be running, and the line must still belong to the worker that buys it.
SELECT c.ordinal,
    o.status = 'ACTIVE' AS organisation_is_active, o.environment = 'STAGING' AS is_locked_to_allow_list,
    (f.id IS NOT NULL AND f.revoked_at IS NULL OR b.id IS NOT NULL) AND l.status = 'ACTIVE' AND u.status = 'ACTIVE'
        AS authority_is_live,
    (
        SELECT a.id FROM accounts a
        WHERE a.organisation_id = c.organisation_id AND a.currency = c.currency AND a.category = 'COMMISSION'
    ) AS commission_account_id
FROM unnest($1, $2, $3, $4, $5, $6, $7, $8)
    WITH ORDINALITY AS c (organisation_id, client_id, user_id, access_token_id, currency, batch_id, line, fence, ordinal)
JOIN organisations o ON o.id = c.organisation_id
LEFT JOIN access_tokens t ON t.id = c.access_token_id AND c.batch_id IS NULL
LEFT JOIN token_families f ON f.id = t.family_id
    AND f.organisation_id = c.organisation_id AND f.oauth_client_id = c.client_id AND f.user_id = c.user_id
LEFT JOIN batch_lines x ON x.batch_id = c.batch_id AND x.number = c.line AND x.fence = c.fence AND x.state = 'BUYING'
LEFT JOIN batches b ON b.id = x.batch_id AND b.status = 'RUNNING'
    AND b.organisation_id = c.organisation_id AND b.client_id = c.client_id AND b.user_id = c.user_id
LEFT JOIN oauth_clients l ON l.id = coalesce(f.oauth_client_id, b.client_id)
LEFT JOIN users u ON u.id = coalesce(f.user_id, b.user_id)
