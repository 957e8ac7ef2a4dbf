-- Expand. Programs of earlier releases list by the index that replaces this one.
DROP INDEX CONCURRENTLY IF EXISTS purchases_by_time;
