CREATE INDEX CONCURRENTLY IF NOT EXISTS purchases_for_retry
    ON purchases (organisation_id, subscriber_identifier, external_reference, reserved_no);
