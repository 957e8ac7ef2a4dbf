-- Expand. Programs of earlier releases find the purchases of the subscriber by the index that replaces this one, and sort those of the
-- reference.
DROP INDEX CONCURRENTLY IF EXISTS purchases_for_retry;
