-- The role stays: it belongs to the cluster, and another database may grant it something.
ALTER TABLE purchases DROP COLUMN due_at, DROP COLUMN request_id;
ALTER TABLE purchases RESET (autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold, vacuum_index_cleanup);
