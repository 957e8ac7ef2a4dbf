DROP INDEX CONCURRENTLY IF EXISTS purchases_by_subscriber;
