CREATE INDEX CONCURRENTLY IF NOT EXISTS purchases_due ON purchases (provider_code, due_at) WHERE due_at IS NOT NULL;
