-- Expand. Which programs this database serves.
--
-- A program works with its own schema and with every later one, until a migration takes away what it needs. Each session of a
-- program holds a shared advisory lock on its schema version, so that such a migration sees the programs that are connected.

CREATE TABLE served_programs (
    only_row      boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    -- A program of an earlier schema is refused.
    oldest_schema text NOT NULL COLLATE "C" CHECK (oldest_schema ~ '^[0-9]{14}$')
);
INSERT INTO served_programs (oldest_schema) VALUES ('20261123000016');
GRANT SELECT ON served_programs TO vendgate_api, vendgate_worker, vendgate_operator;

-- The sessions of programs of this database, by the advisory lock that each of them holds: 0x7667 in the upper 16 bits, then the
-- schema version.
CREATE VIEW connected_programs AS
    SELECT ((l.classid::bigint << 32) | l.objid::bigint) & ((1::bigint << 48) - 1) AS schema_version,
        l.pid, a.usename, a.application_name
    FROM pg_locks l JOIN pg_stat_activity a USING (pid)
    WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND l.classid::bigint >> 16 = x'7667'::bigint;
GRANT SELECT ON connected_programs TO vendgate_operator;

-- The first statement of a migration that contracts: `SELECT end_programs_before('20261123000016')`. A session that is being opened
-- takes its advisory lock first and reads `served_programs` then. So it either is seen here, or waits for the end of this migration
-- and is refused.
CREATE FUNCTION end_programs_before(version text) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    connected text;
BEGIN
    LOCK TABLE public.served_programs IN ACCESS EXCLUSIVE MODE;
    SELECT string_agg(format('%s (login %s, process %s, schema %s)', application_name, usename, pid, schema_version), ', ' ORDER BY pid)
    INTO connected
    FROM public.connected_programs WHERE schema_version < version::bigint;
    IF connected IS NOT NULL THEN
        RAISE EXCEPTION 'programs of a schema before % are connected: %. Replace or stop them, and run api-server migrate again',
            version, connected USING ERRCODE = 'object_in_use';
    END IF;
    UPDATE public.served_programs SET oldest_schema = version WHERE oldest_schema < version COLLATE "C";
END
$$;
