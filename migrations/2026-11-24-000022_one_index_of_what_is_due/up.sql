-- Expand. Workers of earlier releases find what is due by the index that replaces this one, and sort it.
DROP INDEX CONCURRENTLY IF EXISTS purchases_due;
