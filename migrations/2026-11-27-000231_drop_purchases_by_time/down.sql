CREATE INDEX CONCURRENTLY IF NOT EXISTS purchases_by_time ON purchases (organisation_id, created_at, id);
