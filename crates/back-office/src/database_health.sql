-- database_health
-- A login without pg_read_all_stats sees that there are standbys, and not how far they are.
SELECT pg_database_size(current_database()) / 1048576 AS megabytes,
    coalesce(s.seen, 0) AS standbys_seen, coalesce(s.unseen, 0) AS standbys_unseen,
    coalesce(s.behind_bytes, 0)::bigint / 1048576 AS behind_megabytes,
    CASE WHEN a.is_on THEN extract(epoch FROM now() - coalesce(a.last_archived_time, a.stats_reset, pg_postmaster_start_time()))::bigint END AS unarchived_s,
    a.is_on AND coalesce(a.last_failed_time > a.last_archived_time, a.last_failed_time IS NOT NULL) AS archive_fails
FROM (SELECT current_setting('archive_mode') <> 'off' AS is_on, w.* FROM pg_stat_archiver w) a
CROSS JOIN (
    SELECT count(*) FILTER (WHERE flush_lsn IS NOT NULL) AS seen, count(*) FILTER (WHERE flush_lsn IS NULL) AS unseen,
        max(pg_wal_lsn_diff(pg_current_wal_lsn(), flush_lsn)) AS behind_bytes
    FROM pg_stat_replication
) s
