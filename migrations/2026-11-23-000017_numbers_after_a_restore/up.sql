-- Expand. A purchase number is never given out twice, not even after a restore.
--
-- A restored database does not know the numbers that were given out after the moment of its backup. But it is another cluster, or
-- has begun a new timeline, as every promotion does. Then numbers are skipped: more than can have been given out since the newest
-- purchase that is left.

-- The cluster and its timeline. The control file knows a new timeline only after a checkpoint, and the WAL file at once.
CREATE FUNCTION cluster_and_timeline() RETURNS text LANGUAGE sql VOLATILE
SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT format('%s/%s', system_identifier, left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)) FROM pg_control_system()
$$;

CREATE TABLE purchase_numbers (
    only_row     boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    -- Where the last number was given out.
    given_out_by text NOT NULL
);
INSERT INTO purchase_numbers (given_out_by) VALUES (cluster_and_timeline());

CREATE FUNCTION skip_purchase_numbers(here text) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    -- More than a database can sell on average, and more than all servers have taken ahead.
    a_second CONSTANT bigint := 1000;
    ahead    CONSTANT bigint := 100000;
    newest timestamptz;
    lost bigint;
BEGIN
    -- Servers that arrive together wait here, and all but the first find that it is done.
    PERFORM FROM public.purchase_numbers WHERE given_out_by <> here FOR UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    SELECT created_at INTO newest FROM public.purchases ORDER BY id DESC LIMIT 1;
    lost := coalesce(greatest(ceil(extract(epoch FROM clock_timestamp() - newest)), 0), 0);
    PERFORM setval('public.purchase_ids', nextval('public.purchase_ids') + ahead + lost * a_second);
    UPDATE public.purchase_numbers SET given_out_by = here;
END
$$;

CREATE FUNCTION take_purchase_ids(count integer) RETURNS SETOF bigint LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    here CONSTANT text := public.cluster_and_timeline();
BEGIN
    IF EXISTS (SELECT FROM public.purchase_numbers WHERE given_out_by <> here) THEN
        PERFORM public.skip_purchase_numbers(here);
    END IF;
    RETURN QUERY SELECT nextval('public.purchase_ids') FROM generate_series(1, count);
END
$$;
GRANT EXECUTE ON FUNCTION take_purchase_ids TO vendgate_api;
