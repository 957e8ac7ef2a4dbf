DROP TABLE webhook_attempts;
DROP TABLE webhook_retries;
DROP SEQUENCE webhook_test_ids;
DROP TABLE webhook_progress;
DROP TRIGGER webhook_endpoints_begin ON webhook_endpoints;
DROP TRIGGER webhook_endpoints_follow_status ON webhook_endpoints;
DROP FUNCTION begin_webhook_progress;
DROP FUNCTION follow_webhook_status;
