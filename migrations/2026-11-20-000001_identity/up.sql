-- Who may call, and who did what. Every purchase is made in somebody's name, so this comes first.
--
-- Nothing in these tables can be used to log in: passwords are argon2id hashes, and secrets and tokens, being
-- 256 random bits, are kept as their SHA-256.

-- The servers' role and the operator's, for login roles to be members of. Roles belong to the cluster: somebody
-- who may make roles may have made them beforehand, and another database of ours may be making them now.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'vendgate_api') THEN
        CREATE ROLE vendgate_api NOLOGIN;
    END IF;
EXCEPTION
    WHEN duplicate_object OR unique_violation THEN NULL;
END
$$;

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'vendgate_operator') THEN
        CREATE ROLE vendgate_operator NOLOGIN IN ROLE vendgate_api;
    END IF;
EXCEPTION
    WHEN duplicate_object OR unique_violation THEN NULL;
END
$$;

CREATE TABLE organisations (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    code text NOT NULL UNIQUE CHECK (code ~ '^[A-Za-z0-9_-]{1,64}$'),
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    environment text NOT NULL CHECK (environment IN ('STAGING', 'PRODUCTION')),
    status text NOT NULL DEFAULT 'ACTIVE' CHECK (status IN ('ACTIVE', 'SUSPENDED')),
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE oauth_clients (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    organisation_id bigint NOT NULL REFERENCES organisations,
    client_id text NOT NULL UNIQUE CHECK (client_id ~ '^vg_(test|live)_[0-9a-z]{16,64}$'),
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    status text NOT NULL DEFAULT 'ACTIVE' CHECK (status IN ('ACTIVE', 'SUSPENDED')),
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (id, organisation_id)
);

CREATE INDEX oauth_clients_organisation_id ON oauth_clients (organisation_id);

-- Several may be live at once, so that a secret can be replaced without an interruption.
CREATE TABLE client_secrets (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    oauth_client_id bigint NOT NULL REFERENCES oauth_clients,
    secret_hash bytea NOT NULL UNIQUE CHECK (octet_length(secret_hash) = 32),
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    revoked_at timestamptz,
    UNIQUE (id, oauth_client_id)
);

CREATE INDEX client_secrets_oauth_client_id ON client_secrets (oauth_client_id);

CREATE TABLE users (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    organisation_id bigint NOT NULL REFERENCES organisations,
    username text NOT NULL CHECK (length(username) BETWEEN 1 AND 200),
    password_hash text NOT NULL CHECK (password_hash LIKE '$argon2id$%'),
    full_name text NOT NULL CHECK (length(full_name) BETWEEN 1 AND 200),
    phone_number text CHECK (phone_number ~ '^[0-9]{6,15}$'),
    email text CHECK (length(email) BETWEEN 3 AND 254),
    role text NOT NULL CHECK (role IN ('INTEGRATOR', 'VIEWER')),
    status text NOT NULL DEFAULT 'ACTIVE' CHECK (status IN ('ACTIVE', 'SUSPENDED')),
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (organisation_id, username),
    UNIQUE (id, organisation_id)
);

-- One login and everything refreshed from it. The pairs of columns make sure that the client, its secret and
-- the user are of one organisation.
CREATE TABLE token_families (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    organisation_id bigint NOT NULL,
    oauth_client_id bigint NOT NULL,
    user_id bigint NOT NULL,
    client_secret_id bigint NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL CHECK (expires_at > created_at),
    revoked_at timestamptz,
    revoked_because text CHECK (revoked_because IN ('REFRESH_TOKEN_REUSED', 'SECRET_REVOKED')),
    CHECK ((revoked_at IS NULL) = (revoked_because IS NULL)),
    FOREIGN KEY (oauth_client_id, organisation_id) REFERENCES oauth_clients (id, organisation_id),
    FOREIGN KEY (user_id, organisation_id) REFERENCES users (id, organisation_id),
    FOREIGN KEY (client_secret_id, oauth_client_id) REFERENCES client_secrets (id, oauth_client_id)
);

CREATE INDEX token_families_oauth_client_id ON token_families (oauth_client_id, organisation_id);
CREATE INDEX token_families_user_id ON token_families (user_id, organisation_id);
CREATE INDEX token_families_client_secret_id ON token_families (client_secret_id, oauth_client_id);

CREATE TABLE access_tokens (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    family_id bigint NOT NULL REFERENCES token_families,
    generation integer NOT NULL CHECK (generation >= 1),
    token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL CHECK (expires_at > created_at),
    UNIQUE (family_id, generation)
);

-- Each is exchanged once for the next generation; that the next was derived from it is why a repeated exchange
-- can give the same answer although nothing readable is kept.
CREATE TABLE refresh_tokens (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    family_id bigint NOT NULL REFERENCES token_families,
    generation integer NOT NULL CHECK (generation >= 1),
    token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL CHECK (expires_at > created_at),
    exchanged_at timestamptz,
    UNIQUE (family_id, generation)
);

-- Written in the transaction of the deed that it records. `actor` is a person or a process in words.
CREATE TABLE audit_log (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now(),
    actor text NOT NULL CHECK (length(actor) BETWEEN 1 AND 200),
    action text NOT NULL CHECK (action ~ '^[a-z_]+(\.[a-z_]+)+$'),
    organisation_id bigint REFERENCES organisations,
    subject text NOT NULL,
    reason text NOT NULL,
    details jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(details) = 'object')
);

CREATE INDEX audit_log_organisation_id ON audit_log (organisation_id, id);
CREATE INDEX audit_log_subject ON audit_log (subject, id);

-- The grants keep the servers from rewriting history; this keeps everybody else from doing so by accident.
CREATE FUNCTION refuse_to_rewrite_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', tg_table_name USING ERRCODE = 'restrict_violation';
END
$$;

CREATE TRIGGER audit_log_is_append_only
    BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();

-- The numbers under which a provider has seen our calls, per client id that it knows us by.
CREATE TABLE provider_call_counters (
    provider_client_id text PRIMARY KEY CHECK (length(provider_client_id) BETWEEN 1 AND 200),
    next_number bigint NOT NULL CHECK (next_number > 0),
    last_instant timestamptz NOT NULL
);

REVOKE CREATE ON SCHEMA public FROM PUBLIC;
-- An operator's role that was made beforehand may not be a member yet.
DO $$
BEGIN
    IF NOT pg_has_role('vendgate_operator', 'vendgate_api', 'MEMBER') THEN
        GRANT vendgate_api TO vendgate_operator;
    END IF;
END
$$;

GRANT USAGE ON SCHEMA public TO vendgate_api, vendgate_operator;
GRANT SELECT ON __diesel_schema_migrations TO vendgate_api;

GRANT SELECT ON organisations, oauth_clients, client_secrets, users TO vendgate_api;
GRANT SELECT, INSERT ON token_families, access_tokens, refresh_tokens TO vendgate_api;
GRANT UPDATE (revoked_at, revoked_because) ON token_families TO vendgate_api;
GRANT UPDATE (exchanged_at) ON refresh_tokens TO vendgate_api;
GRANT SELECT, INSERT ON audit_log TO vendgate_api;
GRANT SELECT, INSERT, UPDATE ON provider_call_counters TO vendgate_api;

GRANT INSERT ON organisations, oauth_clients, client_secrets, users TO vendgate_operator;
GRANT UPDATE (name, status) ON organisations, oauth_clients TO vendgate_operator;
GRANT UPDATE (expires_at, revoked_at) ON client_secrets TO vendgate_operator;
GRANT UPDATE (password_hash, full_name, phone_number, email, role, status) ON users TO vendgate_operator;
