//! What is deleted about webhook endpoints.

use database::Statement;

pub(super) struct PurgeKeys;

impl Statement for PurgeKeys {
    const SQL: &str = "-- purge_webhook_keys
DELETE FROM webhook_keys WHERE id IN (
    SELECT id FROM webhook_keys WHERE valid_until < now() - interval '1 day' ORDER BY valid_until LIMIT $1
)";
}

pub(super) struct PurgeAttempts;

impl Statement for PurgeAttempts {
    const SQL: &str = "-- purge_webhook_attempts
DELETE FROM webhook_attempts WHERE (endpoint_id, id) IN (
    SELECT endpoint_id, id FROM webhook_attempts WHERE at < now() - interval '30 days' ORDER BY at LIMIT $1
)";
}

pub(super) struct PurgeEndpoints;

impl Statement for PurgeEndpoints {
    const SQL: &str = "-- purge_webhook_endpoints
-- With everything that is kept of it. The audit log tells who had it.
DELETE FROM webhook_endpoints WHERE id IN (
    SELECT id FROM webhook_endpoints WHERE status = 'DELETED' AND status_since < now() - interval '30 days'
    ORDER BY status_since LIMIT $1
)";
}
