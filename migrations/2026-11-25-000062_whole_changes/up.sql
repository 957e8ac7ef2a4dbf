-- Expand. A group of the money path sends its commit together with its writes, so no program can look at a count of rows in
-- between. The statement calls this function when it has not changed every row that it was to change. So it fails, and the server
-- refuses the commit behind it.
CREATE FUNCTION refuse_partial_change(changed bigint, wanted bigint) RETURNS boolean LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'of % locked purchases, % are as they were read', wanted, changed
        USING ERRCODE = 'check_violation', CONSTRAINT = 'purchases_change_as_locked';
END
$$;
GRANT EXECUTE ON FUNCTION refuse_partial_change TO vendgate_api, vendgate_worker, vendgate_operator;
