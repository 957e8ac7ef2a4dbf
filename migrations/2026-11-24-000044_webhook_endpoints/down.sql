DROP TABLE webhook_keys;
DROP TABLE webhook_endpoints;
DROP FUNCTION log_a_webhook_key;
DROP FUNCTION log_a_webhook_endpoint;
DROP FUNCTION refuse_to_forget_an_endpoint;
DROP FUNCTION refuse_to_revive;
