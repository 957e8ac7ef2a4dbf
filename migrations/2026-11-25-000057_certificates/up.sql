-- Expand. The final answer about a purchase as a signed certificate. It is kept as it was issued, because it says the same for ever:
-- after the key was replaced, after tokens were erased, and when later programs would write another text.

-- The public halves of all keys that have signed. A verifier of a certificate reads them from the server, so none is forgotten when
-- an operator replaces the key.
CREATE TABLE certificate_keys (
    public_key    bytea PRIMARY KEY CHECK (octet_length(public_key) = 32),
    first_used_at timestamptz NOT NULL DEFAULT now()
);
CREATE TRIGGER certificate_keys_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON certificate_keys
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();

CREATE TABLE certificates (
    -- No foreign key, for the reason that the tables of purchases have none. The trigger below looks the purchase up.
    purchase_id bigint PRIMARY KEY,
    public_key  bytea NOT NULL REFERENCES certificate_keys,
    -- A JWS in the compact form.
    certificate text NOT NULL CHECK (certificate ~ '^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$'),
    -- What makes the digest of a token unguessable. Sealed, because the token is.
    sealed_salt bytea NOT NULL CHECK (octet_length(sealed_salt) > 32),
    salt_key_id integer NOT NULL,
    issued_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX certificates_by_key ON certificates (public_key);
CREATE TRIGGER certificates_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON certificates
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();

-- Whatever a server's program believes: a certificate is of a purchase that has ended, and says the end that it had.
CREATE FUNCTION admit_certificate() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    encoded CONSTANT text := translate(split_part(NEW.certificate, '.', 2), '-_', '+/');
    said CONSTANT jsonb := convert_from(decode(rpad(encoded, (length(encoded) + 3) / 4 * 4, '='), 'base64'), 'UTF8')::jsonb;
BEGIN
    IF NOT EXISTS (
        SELECT FROM purchases p
        WHERE p.id = NEW.purchase_id
            AND said ->> 'purchase_id' = p.id::text
            AND said ->> 'organisation_id' = p.organisation_id::text
            AND said ->> 'outcome' = CASE p.state WHEN 'SUCCESSFUL' THEN 'SOLD' WHEN 'FAILED' THEN 'NOT_SOLD' END
    ) THEN
        RAISE EXCEPTION 'the certificate does not say how purchase % ended', NEW.purchase_id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'certificates_say_how_it_ended';
    END IF;
    NEW.issued_at := clock_timestamp();
    RETURN NEW;
END
$$;
CREATE TRIGGER certificates_are_admitted BEFORE INSERT ON certificates FOR EACH ROW EXECUTE FUNCTION admit_certificate();

GRANT SELECT ON certificate_keys, certificates TO vendgate_api;
GRANT INSERT (public_key) ON certificate_keys TO vendgate_api;
GRANT INSERT (purchase_id, public_key, certificate, sealed_salt, salt_key_id) ON certificates TO vendgate_api;
