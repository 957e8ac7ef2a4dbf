-- Expand. The endpoints to which an organisation wants its events sent, and the keys that sign them.

CREATE TABLE webhook_endpoints (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    organisation_id bigint NOT NULL REFERENCES organisations,
    url             text NOT NULL CHECK (octet_length(url) BETWEEN 1 AND 2000),
    description     text CHECK (length(description) BETWEEN 1 AND 200),
    -- All types if it is empty.
    event_types     text[] NOT NULL CHECK (array_position(event_types, NULL) IS NULL AND cardinality(event_types) <= 100),
    include_tokens  boolean NOT NULL,
    status          text NOT NULL DEFAULT 'ACTIVE' CHECK (status IN ('ACTIVE', 'PAUSED', 'SWITCHED_OFF', 'DELETED')),
    status_since    timestamptz NOT NULL DEFAULT now(),
    switched_off_because text CHECK (switched_off_because IN ('FAILING', 'GONE')),
    created_at      timestamptz NOT NULL DEFAULT now(),
    -- The user who made or changed it last, for the audit log.
    changed_by      bigint NOT NULL REFERENCES users,
    CONSTRAINT webhook_endpoints_say_why CHECK ((status = 'SWITCHED_OFF') = (switched_off_because IS NOT NULL))
);
CREATE INDEX webhook_endpoints_by_organisation ON webhook_endpoints (organisation_id, id);
CREATE INDEX webhook_endpoints_deleted ON webhook_endpoints (status_since) WHERE status = 'DELETED';
CREATE INDEX webhook_endpoints_by_user ON webhook_endpoints (changed_by);

-- The keys of an endpoint: one without an end, and for a time the one before it.
CREATE SEQUENCE webhook_key_ids;
CREATE TABLE webhook_keys (
    -- Taken before the row is written, because the keys are sealed for this number.
    id          bigint PRIMARY KEY DEFAULT nextval('webhook_key_ids'),
    endpoint_id bigint NOT NULL REFERENCES webhook_endpoints ON DELETE CASCADE,
    sealed      bytea NOT NULL CHECK (octet_length(sealed) > 64),
    key_id      integer NOT NULL,
    public_key  text NOT NULL CHECK (public_key ~ '^whpk_'),
    made_at     timestamptz NOT NULL DEFAULT now(),
    valid_until timestamptz
);
ALTER SEQUENCE webhook_key_ids OWNED BY webhook_keys.id;
CREATE UNIQUE INDEX webhook_keys_one_current ON webhook_keys (endpoint_id) WHERE valid_until IS NULL;
CREATE INDEX webhook_keys_by_endpoint ON webhook_keys (endpoint_id, id);
CREATE INDEX webhook_keys_ended ON webhook_keys (valid_until) WHERE valid_until IS NOT NULL;

CREATE FUNCTION refuse_to_revive() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'webhook endpoint % is deleted', OLD.id USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER webhook_endpoints_stay_deleted BEFORE UPDATE ON webhook_endpoints
    FOR EACH ROW WHEN (OLD.status = 'DELETED') EXECUTE FUNCTION refuse_to_revive();

CREATE FUNCTION refuse_to_forget_an_endpoint() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'webhook endpoint % is not deleted long enough', OLD.id USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER webhook_endpoints_stay_a_week BEFORE DELETE ON webhook_endpoints
    FOR EACH ROW WHEN (OLD.status <> 'DELETED' OR OLD.status_since > now() - interval '7 days')
    EXECUTE FUNCTION refuse_to_forget_an_endpoint();

-- The audit log has a line for each change. The path and the query of a URL may contain a secret of its owner, so the line has the
-- rest of it.
CREATE FUNCTION log_a_webhook_endpoint() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    of_service CONSTANT boolean := tg_op = 'UPDATE' AND NEW.status = 'SWITCHED_OFF';
BEGIN
    INSERT INTO audit_log (actor, action, organisation_id, subject, reason, details)
    SELECT CASE WHEN of_service THEN 'retry-worker' ELSE 'user:' || NEW.changed_by END,
        CASE
            WHEN tg_op = 'INSERT' THEN 'webhook_endpoint.created'
            WHEN NEW.status = 'DELETED' THEN 'webhook_endpoint.deleted'
            WHEN of_service THEN 'webhook_endpoint.switched_off'
            ELSE 'webhook_endpoint.changed'
        END,
        NEW.organisation_id, 'webhook_endpoint:' || NEW.id,
        CASE WHEN of_service THEN 'the endpoint accepted nothing any more' ELSE 'requested over the API' END,
        jsonb_build_object('server', substring(NEW.url FROM '^[a-z]+://[^/?#]+'), 'status', NEW.status,
            'event_types', NEW.event_types, 'include_tokens', NEW.include_tokens);
    RETURN NULL;
END
$$;
CREATE TRIGGER webhook_endpoints_are_audited AFTER INSERT ON webhook_endpoints
    FOR EACH ROW EXECUTE FUNCTION log_a_webhook_endpoint();
CREATE TRIGGER webhook_endpoint_changes_are_audited AFTER UPDATE ON webhook_endpoints
    FOR EACH ROW WHEN (OLD IS DISTINCT FROM NEW) EXECUTE FUNCTION log_a_webhook_endpoint();

CREATE FUNCTION log_a_webhook_key() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    INSERT INTO audit_log (actor, action, organisation_id, subject, reason, details)
    SELECT 'user:' || e.changed_by, 'webhook_endpoint.keys_rotated', e.organisation_id, 'webhook_endpoint:' || e.id,
        'requested over the API', jsonb_build_object('until', NEW.valid_until)
    FROM webhook_endpoints e WHERE e.id = NEW.endpoint_id AND e.status <> 'DELETED';
    RETURN NULL;
END
$$;
CREATE TRIGGER webhook_keys_are_audited AFTER UPDATE ON webhook_keys
    FOR EACH ROW WHEN (OLD.valid_until IS NULL AND NEW.valid_until IS NOT NULL) EXECUTE FUNCTION log_a_webhook_key();

GRANT SELECT, INSERT (organisation_id, url, description, event_types, include_tokens, changed_by) ON webhook_endpoints TO vendgate_api;
GRANT UPDATE (url, description, event_types, include_tokens, status, status_since, switched_off_because, changed_by)
    ON webhook_endpoints TO vendgate_api;
GRANT SELECT, UPDATE (status, status_since, switched_off_because), DELETE ON webhook_endpoints TO vendgate_worker;
GRANT SELECT ON webhook_endpoints TO vendgate_operator;

GRANT SELECT, INSERT (id, endpoint_id, sealed, key_id, public_key), UPDATE (valid_until) ON webhook_keys TO vendgate_api;
GRANT USAGE ON SEQUENCE webhook_key_ids TO vendgate_api;
GRANT SELECT, DELETE ON webhook_keys TO vendgate_worker;
