-- Two organisations with 24,000 purchases each, one per second, of 1,500 subscribers. Every 300th has failed, and
-- every 3000th is open. The rows bypass the triggers, which would require funded wallets. Every second purchase has an
-- external reference, and every fourth has the same one. With a shorter history the planner would be right to read all
-- of it.
SET session_replication_role = replica;
INSERT INTO organisations (code, name, environment) VALUES ('A', 'A', 'STAGING'), ('B', 'B', 'STAGING');
INSERT INTO users (organisation_id, username, password_hash, full_name, role)
    SELECT id, 'till', '$argon2id$', 'Till', 'INTEGRATOR' FROM organisations;
INSERT INTO accounts (organisation_id, name, currency, category, posted, held)
    SELECT id, 'Till', 'BWP', 'CURRENT', 0, 0 FROM organisations;
INSERT INTO providers (code, name) VALUES ('BPC', 'Power');
INSERT INTO purchases (id, reference, organisation_id, client_id, user_id, account_id, source_channel, language,
    product, provider_code, subscriber_identifier, beneficiary_phone_number, currency, entry, charge, net, total,
    commission, external_reference, requester_sms, beneficiary_sms, requester_email, beneficiary_email, created_at,
    state, handling, fence, attempt, requests, window_closes_at, copies, last_sent_at, provider_reference, ended_at,
    failure, provider_transaction, sealed_token, token_key_id, due_at)
SELECT n * 10 + o, 'TOP', o, 1, o, o, 'WEB', 'en', 'ELECTRICITY', 'BPC',
    CASE WHEN s = 'IN_DOUBT' THEN '07' || n ELSE '05' || n % 1500 END, '26771234567', 'BWP', 100, 0, 100, 100, 0,
    CASE WHEN n % 4 = 1 THEN 'same' WHEN n % 2 = 0 THEN 'R' || n END, true, true, true, true, timestamptz '2026-11-20 12:00Z' - n * interval '1 s',
    s, 'SELF_MANAGED', 1, 1, 0, now(), CASE WHEN s = 'IN_DOUBT' THEN 1 END, CASE WHEN s = 'IN_DOUBT' THEN now() END,
    '000001', CASE WHEN s <> 'IN_DOUBT' THEN now() END, CASE WHEN s = 'FAILED' THEN 'OPERATOR' END,
    CASE WHEN s = 'SUCCESSFUL' THEN 'V' || n END, CASE WHEN s = 'SUCCESSFUL' THEN bytea '1' END,
    CASE WHEN s = 'SUCCESSFUL' THEN 1 END, CASE WHEN s = 'IN_DOUBT' THEN now() END
FROM generate_series(1, 2) AS o, generate_series(1, 24000) AS n,
    LATERAL (SELECT CASE WHEN n % 3000 = 0 THEN 'IN_DOUBT' WHEN n % 300 = 0 THEN 'FAILED' ELSE 'SUCCESSFUL' END AS s) AS x;
