-- Expand. An operator signs in to the console with an account at an OpenID provider. Which login an identity there is, only that login
-- says, by a function that also writes the line of the audit log. The console finds the login of an identity, and connects as that login
-- if the server lets it (pg_hba.conf and pg_ident.conf). No role may write the table itself, also not an administrator: whoever could
-- give a login to an identity could be every person.

CREATE TABLE console_identities (
    issuer     text NOT NULL CHECK (length(issuer) BETWEEN 1 AND 255),
    subject    text NOT NULL CHECK (length(subject) BETWEEN 1 AND 255),
    login      text NOT NULL,
    added_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (issuer, subject)
);
GRANT SELECT ON console_identities TO vendgate_operator, vendgate_support, vendgate_finance, vendgate_administrator;

-- Adds an identity of the login of this session. `actor` is a note for the audit log, as everywhere. Returns whether nobody had it.
CREATE FUNCTION add_console_identity(its_issuer text, its_subject text, actor text, reason text, OUT is_new boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    INSERT INTO console_identities (issuer, subject, login) VALUES (its_issuer, its_subject, session_user)
    ON CONFLICT ON CONSTRAINT console_identities_pkey DO NOTHING;
    is_new := FOUND;
    IF is_new THEN
        INSERT INTO audit_log (actor, action, subject, reason, details)
        VALUES (actor, 'console_identity.added', 'login:' || session_user, reason,
            jsonb_build_object('issuer', its_issuer, 'subject', its_subject));
    END IF;
END
$$;

-- Removes an identity of the login of this session, or as an administrator anyone's. Returns whose it was, and nothing if there was none.
CREATE FUNCTION remove_console_identity(its_issuer text, its_subject text, actor text, reason text, OUT its_login text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    DELETE FROM console_identities i
    WHERE i.issuer = its_issuer AND i.subject = its_subject AND (i.login = session_user OR login_has_role('administrator'))
    RETURNING i.login INTO its_login;
    IF FOUND THEN
        INSERT INTO audit_log (actor, action, subject, reason, details)
        VALUES (actor, 'console_identity.removed', 'login:' || its_login, reason,
            jsonb_build_object('issuer', its_issuer, 'subject', its_subject));
    END IF;
END
$$;

-- Whose an identity is. The console sees one at a time, which it must know.
CREATE FUNCTION find_console_identity(its_issuer text, its_subject text) RETURNS text LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT login FROM console_identities WHERE issuer = its_issuer AND subject = its_subject
$$;

REVOKE ALL ON FUNCTION add_console_identity, remove_console_identity, find_console_identity FROM PUBLIC;
GRANT EXECUTE ON FUNCTION add_console_identity, remove_console_identity
    TO vendgate_operator, vendgate_support, vendgate_finance, vendgate_administrator;
GRANT EXECUTE ON FUNCTION find_console_identity TO vendgate_console;
