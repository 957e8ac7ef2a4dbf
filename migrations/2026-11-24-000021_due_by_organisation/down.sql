DROP INDEX CONCURRENTLY IF EXISTS purchases_due_by_organisation;
