-- The roles stay: they belong to the cluster, and another database may grant them something.
DROP TABLE provider_call_counters;
DROP TABLE audit_log;
DROP FUNCTION refuse_to_rewrite_history;
DROP TABLE refresh_tokens;
DROP TABLE access_tokens;
DROP TABLE token_families;
DROP TABLE users;
DROP TABLE client_secrets;
DROP TABLE oauth_clients;
DROP TABLE organisations;
REVOKE SELECT ON __diesel_schema_migrations FROM vendgate_api;
REVOKE USAGE ON SCHEMA public FROM vendgate_api, vendgate_operator;
