-- Expand. A worker looks for the lines of open batches after each claim, and read all batches for that.
CREATE INDEX CONCURRENTLY batches_open ON batches (id) WHERE status <> 'FINISHED';
