-- Expand. A line of the audit log about a request concerns the organisation whose wallet or purchase the request is about. It had none, so
-- whoever looked for everything about an organisation did not see it. Lines that were written before stay as they are: the log is
-- append-only.

-- Its name is before that of the trigger that hashes the line, so the organisation is in the hash.
CREATE FUNCTION name_organisation_of_approval() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    given CONSTANT jsonb := NEW.details -> 'arguments';
BEGIN
    NEW.organisation_id := coalesce(
        (SELECT a.organisation_id FROM accounts a WHERE a.id = (given ->> 'wallet')::bigint),
        (SELECT p.organisation_id FROM purchases p WHERE p.id = (given ->> 'purchase')::bigint)
    );
    RETURN NEW;
END
$$;
CREATE TRIGGER audit_log_approvals_name_their_organisation BEFORE INSERT ON audit_log
    FOR EACH ROW WHEN (NEW.organisation_id IS NULL AND NEW.subject LIKE 'approval:%')
    EXECUTE FUNCTION name_organisation_of_approval();
