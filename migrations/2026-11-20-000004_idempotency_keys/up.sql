-- A confirm that carries an idempotency key buys once. The purchase itself holds the key: for as long as it is open, and
-- for seven days after its end, unless it failed for a reason that passes. So nobody frees a key and nobody clears keys
-- away; whether one is held is read off the purchase that was made last under it.
ALTER TABLE purchases
    ADD COLUMN idempotency_key text CHECK (idempotency_key ~ '^[!-~]{1,128}$'),
    -- Which purchase this is under its key: the first, and later the one after a purchase that let go of it.
    ADD COLUMN idempotency_use integer CHECK (idempotency_use > 0),
    -- Of what was asked for, so that another request under the same key is told apart.
    ADD COLUMN request_hash bytea CHECK (octet_length(request_hash) = 32),
    ADD CONSTRAINT purchases_key_is_whole
        CHECK (num_nulls(idempotency_key, idempotency_use, request_hash) IN (0, 3));

-- Two confirms at once ask for the same use of the key, and one of them collides here.
CREATE UNIQUE INDEX purchases_one_per_use_of_key
    ON purchases (client_id, idempotency_key, idempotency_use)
    WHERE idempotency_key IS NOT NULL;

-- The program decides who may have a key. This refuses a purchase under a key that is held all the same, under the name
-- of the index: whoever meets it has lost a race, or is wrong.
CREATE FUNCTION refuse_a_held_key() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    last record;
BEGIN
    SELECT idempotency_use, state, failure_reason, ended_at INTO last
    FROM purchases
    WHERE client_id = NEW.client_id AND idempotency_key = NEW.idempotency_key
    ORDER BY idempotency_use DESC LIMIT 1;
    IF NEW.idempotency_use <> coalesce(last.idempotency_use, 0) + 1
        OR last.state IN ('IN_FLIGHT', 'IN_DOUBT', 'RETRY_DUE', 'REVIEW')
        OR (last.ended_at > clock_timestamp() - interval '7 days'
            AND NOT (last.state = 'FAILED' AND coalesce(last.failure_reason, '') IN ('busy', 'never_sent')))
    THEN
        RAISE EXCEPTION 'the idempotency key of purchase % is held', NEW.id
            USING ERRCODE = 'unique_violation', CONSTRAINT = 'purchases_one_per_use_of_key';
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER purchases_refuse_a_held_key BEFORE INSERT ON purchases
    FOR EACH ROW WHEN (NEW.idempotency_key IS NOT NULL) EXECUTE FUNCTION refuse_a_held_key();

-- A confirm that was refused under a key closes it for confirms under it that were already under way, so that what it was
-- told stays true. A row counts for as long as such a confirm may take to come to its reserve and still be sent, which is
-- well below a minute; a closing clears away a few that are over an hour old.
CREATE TABLE closed_keys (
    client_id       bigint NOT NULL REFERENCES oauth_clients (id),
    idempotency_key text NOT NULL CHECK (idempotency_key ~ '^[!-~]{1,128}$'),
    closed_at       timestamptz NOT NULL,
    PRIMARY KEY (client_id, idempotency_key)
);
CREATE INDEX closed_keys_by_age ON closed_keys (client_id, closed_at);

GRANT SELECT, INSERT, DELETE, UPDATE (closed_at) ON closed_keys TO vendgate_api;

CREATE FUNCTION refuse_to_reopen_a_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the key was closed within the hour' USING ERRCODE = 'restrict_violation';
END
$$;

CREATE TRIGGER closed_keys_count_for_an_hour BEFORE DELETE ON closed_keys
    FOR EACH ROW WHEN (OLD.closed_at > now() - interval '1 hour') EXECUTE FUNCTION refuse_to_reopen_a_key();
