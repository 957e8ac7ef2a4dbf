-- Expand. How far the feed was delivered to each webhook endpoint, which events are to be tried again, and what came of each attempt.
-- Nothing here is written by a sale.

-- The events up to a position were delivered, or are in webhook_retries. A worker takes an endpoint by moving `due_at` on by its
-- lease; the number of times that it was taken is the fence.
CREATE TABLE webhook_progress (
    endpoint_id     bigint PRIMARY KEY REFERENCES webhook_endpoints ON DELETE CASCADE,
    organisation_id bigint NOT NULL,
    transaction_no  bigint NOT NULL,
    event_id        bigint NOT NULL,
    due_at          timestamptz NOT NULL DEFAULT now(),
    fence           bigint NOT NULL DEFAULT 0,
    -- Slow and failing endpoints have workers' places of their own, so that they take none from the others. So do new ones, until they
    -- have answered well.
    is_slow         boolean NOT NULL DEFAULT true,
    -- The first failure since the last success.
    failing_since   timestamptz,
    -- How many rounds in a row had no success.
    failed_rounds   integer NOT NULL DEFAULT 0 CHECK (failed_rounds >= 0)
) WITH (fillfactor = 60);
-- Without an index of what is due: almost all rows are, and have nothing to send. So an update touches no index.

-- The events that are to be tried again, or once more because their receiver asked for it. An event with the transaction number 0
-- is a test.
CREATE SEQUENCE webhook_test_ids;
CREATE TABLE webhook_retries (
    endpoint_id    bigint NOT NULL REFERENCES webhook_endpoints ON DELETE CASCADE,
    transaction_no bigint NOT NULL CHECK (transaction_no >= 0),
    event_id       bigint NOT NULL CHECK (event_id > 0),
    attempts       smallint NOT NULL CHECK (attempts >= 0),
    due_at         timestamptz NOT NULL,
    PRIMARY KEY (endpoint_id, transaction_no, event_id)
);
CREATE INDEX webhook_retries_due ON webhook_retries (endpoint_id, due_at);

CREATE TABLE webhook_attempts (
    id             bigint GENERATED ALWAYS AS IDENTITY,
    endpoint_id    bigint NOT NULL REFERENCES webhook_endpoints ON DELETE CASCADE,
    transaction_no bigint NOT NULL,
    event_id       bigint NOT NULL,
    kind           text NOT NULL,
    attempt        smallint NOT NULL CHECK (attempt > 0),
    at             timestamptz NOT NULL,
    took_ms        integer NOT NULL CHECK (took_ms >= 0),
    -- The HTTP status, or why there was none.
    http_status    smallint,
    no_answer      text,
    -- When the event is tried again. Null if it was accepted or given up.
    next_at        timestamptz,
    PRIMARY KEY (endpoint_id, id),
    CONSTRAINT webhook_attempts_say_what_came CHECK ((http_status IS NULL) <> (no_answer IS NULL))
);
CREATE INDEX webhook_attempts_at ON webhook_attempts (at);

-- An endpoint that exists already gets what happens from now on. So does a new one.
CREATE FUNCTION begin_webhook_progress() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    INSERT INTO webhook_progress (endpoint_id, organisation_id, transaction_no, event_id)
    SELECT NEW.id, NEW.organisation_id, n.base + pg_current_xact_id()::text::bigint, 0 FROM feed_numbering n;
    RETURN NULL;
END
$$;
CREATE TRIGGER webhook_endpoints_begin AFTER INSERT ON webhook_endpoints
    FOR EACH ROW EXECUTE FUNCTION begin_webhook_progress();
INSERT INTO webhook_progress (endpoint_id, organisation_id, transaction_no, event_id)
SELECT e.id, e.organisation_id, n.base + pg_current_xact_id()::text::bigint, 0 FROM webhook_endpoints e CROSS JOIN feed_numbering n;

-- An endpoint that is active again begins without its history of failures. One that the service switches off is told of in the feed,
-- which other endpoints of the organisation receive.
CREATE FUNCTION follow_webhook_status() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.status = 'ACTIVE' THEN
        UPDATE webhook_progress SET due_at = now(), fence = fence + 1, is_slow = true, failing_since = NULL, failed_rounds = 0
        WHERE endpoint_id = NEW.id;
    ELSIF NEW.status = 'SWITCHED_OFF' THEN
        PERFORM tell_feed(NEW.organisation_id, 'webhook_endpoint.switched_off', clock_timestamp(), jsonb_build_object(
            'webhook_endpoint', jsonb_build_object('id', NEW.id, 'description', NEW.description,
                'switched_off_because', NEW.switched_off_because)));
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER webhook_endpoints_follow_status AFTER UPDATE OF status ON webhook_endpoints
    FOR EACH ROW WHEN (OLD.status <> NEW.status) EXECUTE FUNCTION follow_webhook_status();

GRANT SELECT ON webhook_progress TO vendgate_api, vendgate_operator;
GRANT SELECT, UPDATE (transaction_no, event_id, due_at, fence, is_slow, failing_since, failed_rounds)
    ON webhook_progress TO vendgate_worker;
GRANT SELECT, INSERT, UPDATE (attempts, due_at) ON webhook_retries TO vendgate_api;
GRANT SELECT, INSERT, UPDATE (attempts, due_at), DELETE ON webhook_retries TO vendgate_worker;
GRANT USAGE ON SEQUENCE webhook_test_ids TO vendgate_api;
GRANT SELECT ON webhook_attempts TO vendgate_api, vendgate_operator;
GRANT SELECT, INSERT, DELETE ON webhook_attempts TO vendgate_worker;
