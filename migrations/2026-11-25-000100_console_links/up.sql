-- Expand. An operator signs in to the console by a link that vendctl prints. The link holds a secret. Here are its digest, and the
-- operator's login and password, sealed with a key that only the secret gives. The console's own login may take a link, and nothing
-- else: all that it shows and does, it does with the connection of the person who signed in.

-- Roles belong to the cluster: another database of ours may be creating it at this moment.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'vendgate_console') THEN
        CREATE ROLE vendgate_console NOLOGIN;
    END IF;
EXCEPTION
    WHEN duplicate_object OR unique_violation THEN NULL;
    WHEN insufficient_privilege THEN
        RAISE EXCEPTION 'the role vendgate_console does not exist, and % may not create it. As a superuser, run: CREATE ROLE '
            'vendgate_console NOLOGIN; then run api-server migrate again', current_user
            USING ERRCODE = 'insufficient_privilege';
END
$$;

CREATE TABLE console_links (
    secret_sha256 bytea PRIMARY KEY CHECK (octet_length(secret_sha256) = 32),
    -- No role may set these two: the person who makes a link is who signs in by it, and not later than this.
    login         text NOT NULL DEFAULT session_user,
    expires_at    timestamptz NOT NULL DEFAULT clock_timestamp() + interval '5 minutes',
    sealed        bytea NOT NULL CHECK (octet_length(sealed) BETWEEN 1 AND 4096)
);
GRANT INSERT (secret_sha256, sealed) ON console_links
    TO vendgate_operator, vendgate_support, vendgate_finance, vendgate_administrator;

-- Takes a link: it is gone, so that it works once. Links that have expired go with it.
CREATE FUNCTION take_console_link(secret_digest bytea, OUT login text, OUT sealed bytea) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    DELETE FROM console_links l WHERE l.secret_sha256 = secret_digest AND l.expires_at > clock_timestamp()
        RETURNING l.login, l.sealed INTO take_console_link.login, take_console_link.sealed;
    DELETE FROM console_links l WHERE l.expires_at <= clock_timestamp();
END
$$;
REVOKE ALL ON FUNCTION take_console_link FROM PUBLIC;
GRANT EXECUTE ON FUNCTION take_console_link TO vendgate_console;

-- What every program reads of a database before it uses it.
GRANT USAGE ON SCHEMA public TO vendgate_console;
GRANT SELECT ON __diesel_schema_migrations, served_programs, feed_numbering, connected_programs TO vendgate_console;
GRANT EXECUTE ON FUNCTION number_feed_here TO vendgate_console;
