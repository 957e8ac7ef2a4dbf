-- Expand. Batches: many purchases that are requested at once, checked as a whole, and bought one by one by the worker.

CREATE TABLE batches (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    organisation_id bigint NOT NULL REFERENCES organisations,
    -- Under whose authority the lines are bought. Without foreign keys, because clients, users and accounts are never deleted, and the
    -- access token is.
    client_id       bigint NOT NULL,
    user_id         bigint NOT NULL,
    access_token_id bigint NOT NULL,
    request_id      text CHECK (length(request_id) BETWEEN 1 AND 128),
    -- The integrator's own name for the batch. The same name again is the same batch.
    reference       text NOT NULL CHECK (length(reference) BETWEEN 1 AND 64),
    -- Tells another content under the same name.
    content_hash    bytea NOT NULL CHECK (octet_length(content_hash) = 32),
    account_id      bigint NOT NULL,
    language        text NOT NULL,
    currency        text NOT NULL,
    amount          bigint NOT NULL CHECK (amount > 0),
    lines           integer NOT NULL CHECK (lines BETWEEN 1 AND 5000),
    -- How many lines have not ended. The trigger below counts.
    open_lines      integer NOT NULL CHECK (open_lines BETWEEN 0 AND lines),
    status          text NOT NULL DEFAULT 'RUNNING' CHECK (status IN ('RUNNING', 'PAUSED', 'CANCELLING', 'FINISHED')),
    status_since    timestamptz NOT NULL DEFAULT now(),
    paused_because  text CHECK (paused_because IN ('REQUESTED', 'NOT_AUTHORISED', 'DATABASE_CHANGED')),
    created_at      timestamptz NOT NULL DEFAULT now(),
    -- The user who made or changed it last, for the audit log. Null: the service.
    changed_by      bigint,
    UNIQUE (organisation_id, reference),
    CONSTRAINT batches_say_why CHECK ((status = 'PAUSED') = (paused_because IS NOT NULL)),
    CONSTRAINT batches_finish_with_their_last_line CHECK ((status = 'FINISHED') = (open_lines = 0))
) WITH (fillfactor = 50);
CREATE INDEX batches_by_organisation ON batches (organisation_id, id);
CREATE INDEX batches_finished ON batches (status_since) WHERE status = 'FINISHED';

CREATE TABLE batch_lines (
    batch_id        bigint NOT NULL REFERENCES batches ON DELETE CASCADE,
    number          integer NOT NULL CHECK (number BETWEEN 1 AND 5000),
    product         text NOT NULL,
    provider_code   text NOT NULL,
    subscriber_identifier    text NOT NULL,
    beneficiary_phone_number text NOT NULL,
    currency        text NOT NULL,
    amount          bigint NOT NULL CHECK (amount > 0),
    charges_on_top  boolean NOT NULL,
    comment         text,
    external_reference text NOT NULL,
    requester_sms   boolean NOT NULL,
    beneficiary_sms boolean NOT NULL,
    requester_email boolean NOT NULL,
    beneficiary_email boolean NOT NULL,
    state           text NOT NULL DEFAULT 'WAITING'
        CHECK (state IN ('WAITING', 'BUYING', 'PENDING', 'SUCCESSFUL', 'FAILED', 'CANCELLED')),
    -- How often a worker took it.
    fence           bigint NOT NULL DEFAULT 0 CHECK (fence >= 0),
    -- How often it was put back because it could not be bought at that time.
    tries           smallint NOT NULL DEFAULT 0 CHECK (tries >= 0),
    -- When a worker may take it: again after its lease, while one has it.
    due_at          timestamptz NOT NULL DEFAULT now(),
    purchase_id     bigint,
    -- Why there is no purchase, if it failed without one: the rejection, the provider's reason, the amount in question.
    rejection       text,
    rejection_reason text,
    rejection_amount bigint,
    ended_at        timestamptz,
    PRIMARY KEY (batch_id, number),
    CONSTRAINT batch_lines_name_their_purchase CHECK (
        CASE state
            WHEN 'WAITING' THEN purchase_id IS NULL AND rejection IS NULL
            WHEN 'BUYING' THEN purchase_id IS NULL AND rejection IS NULL AND fence > 0
            WHEN 'PENDING' THEN purchase_id IS NOT NULL AND rejection IS NULL
            WHEN 'SUCCESSFUL' THEN purchase_id IS NOT NULL AND rejection IS NULL
            WHEN 'FAILED' THEN num_nonnulls(purchase_id, rejection) = 1
            ELSE purchase_id IS NULL AND rejection IS NULL
        END),
    CONSTRAINT batch_lines_end_once CHECK ((ended_at IS NULL) = (state IN ('WAITING', 'BUYING', 'PENDING')))
) WITH (fillfactor = 70);
-- What the worker takes, and what it waits for.
CREATE INDEX batch_lines_due ON batch_lines (provider_code, batch_id, due_at) WHERE state IN ('WAITING', 'BUYING');
CREATE UNIQUE INDEX batch_lines_one_per_purchase ON batch_lines (purchase_id) WHERE purchase_id IS NOT NULL;
CREATE INDEX batch_lines_pending ON batch_lines (purchase_id) WHERE state = 'PENDING';
CREATE UNIQUE INDEX batch_lines_by_reference ON batch_lines (batch_id, external_reference);

-- The name under which a line is bought. It is unique for ever, and no integrator can send it as an Idempotency-Key.
CREATE FUNCTION batch_line_key(batch bigint, line integer) RETURNS text LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, public, pg_temp AS $$ SELECT format('vendgate:batch:%s:%s', batch, line) $$;

-- A line goes forward only, and what it was asked for never changes. Its purchase is the one that was made under its own name.
CREATE FUNCTION guard_batch_line() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    own record;
BEGIN
    IF OLD.state IN ('SUCCESSFUL', 'FAILED', 'CANCELLED') AND (NEW.state, NEW.purchase_id, NEW.rejection, NEW.fence, NEW.ended_at)
            IS DISTINCT FROM (OLD.state, OLD.purchase_id, OLD.rejection, OLD.fence, OLD.ended_at)
        OR OLD.purchase_id IS NOT NULL AND NEW.purchase_id IS DISTINCT FROM OLD.purchase_id
        OR NEW.fence < OLD.fence
        OR NEW.state = 'BUYING' AND NEW.fence <> OLD.fence + 1 AND (OLD.state, OLD.fence) <> (NEW.state, NEW.fence)
        OR OLD.state = 'PENDING' AND NEW.state NOT IN ('PENDING', 'SUCCESSFUL', 'FAILED')
        OR OLD.state = 'WAITING' AND NEW.state NOT IN ('WAITING', 'BUYING', 'CANCELLED')
        OR (NEW.batch_id, NEW.number, NEW.product, NEW.provider_code, NEW.currency, NEW.amount, NEW.charges_on_top)
            IS DISTINCT FROM (OLD.batch_id, OLD.number, OLD.product, OLD.provider_code, OLD.currency, OLD.amount, OLD.charges_on_top)
    THEN
        RAISE EXCEPTION 'line % of batch % cannot go from % to %', OLD.number, OLD.batch_id, OLD.state, NEW.state
            USING ERRCODE = 'check_violation', CONSTRAINT = 'batch_lines_go_forward';
    END IF;
    IF NEW.state = OLD.state OR NEW.state = 'BUYING' OR OLD.state = 'WAITING' THEN
        RETURN NEW;
    END IF;
    SELECT p.id, p.state INTO own
    FROM batches b
    JOIN purchases p ON p.client_id = b.client_id AND p.idempotency_key = batch_line_key(NEW.batch_id, NEW.number)
    WHERE b.id = NEW.batch_id;
    -- A line goes back or ends without a purchase only if there is none, and with one as that one has ended.
    IF NEW.purchase_id IS DISTINCT FROM own.id OR own.id IS NOT NULL AND NEW.state IN ('SUCCESSFUL', 'FAILED') AND NEW.state <> own.state
    THEN
        RAISE EXCEPTION 'line % of batch % has another purchase', OLD.number, OLD.batch_id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'batch_lines_have_their_own_purchase';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER batch_lines_are_guarded BEFORE UPDATE ON batch_lines FOR EACH ROW EXECUTE FUNCTION guard_batch_line();

-- Counts the lines that have ended. With its last line a batch is finished, and the feed is told in the same transaction.
CREATE FUNCTION count_ended_batch_lines() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    done record;
BEGIN
    FOR done IN
        UPDATE batches b SET open_lines = b.open_lines - e.ended,
            status = CASE WHEN b.open_lines = e.ended THEN 'FINISHED' ELSE b.status END,
            status_since = CASE WHEN b.open_lines = e.ended THEN clock_timestamp() ELSE b.status_since END,
            paused_because = CASE WHEN b.open_lines = e.ended THEN NULL ELSE b.paused_because END
        FROM (
            SELECT n.batch_id, count(*)::integer AS ended
            FROM after_it n JOIN before_it o ON o.batch_id = n.batch_id AND o.number = n.number
            WHERE o.ended_at IS NULL AND n.ended_at IS NOT NULL
            GROUP BY n.batch_id ORDER BY n.batch_id
        ) AS e
        WHERE b.id = e.batch_id
        RETURNING b.id, b.organisation_id, b.reference, b.currency, b.amount, b.lines, b.open_lines, b.status_since
    LOOP
        CONTINUE WHEN done.open_lines > 0;
        PERFORM tell_feed(done.organisation_id, 'batch.finished', done.status_since, (
            SELECT jsonb_build_object('batch', jsonb_build_object(
                'id', done.id, 'reference', done.reference, 'lines', done.lines,
                'amount', money_text(done.currency, done.amount), 'amount_minor', done.amount,
                'successful', count(*) FILTER (WHERE l.state = 'SUCCESSFUL'),
                'failed', count(*) FILTER (WHERE l.state = 'FAILED'),
                'cancelled', count(*) FILTER (WHERE l.state = 'CANCELLED'),
                'successful_amount',
                    money_text(done.currency, coalesce(sum(l.amount) FILTER (WHERE l.state = 'SUCCESSFUL'), 0)::bigint),
                'successful_amount_minor', coalesce(sum(l.amount) FILTER (WHERE l.state = 'SUCCESSFUL'), 0)::bigint))
            FROM batch_lines l WHERE l.batch_id = done.id));
    END LOOP;
    RETURN NULL;
END
$$;
CREATE TRIGGER batch_lines_are_counted AFTER UPDATE ON batch_lines
    REFERENCING OLD TABLE AS before_it NEW TABLE AS after_it
    FOR EACH STATEMENT EXECUTE FUNCTION count_ended_batch_lines();

CREATE FUNCTION guard_batch() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'batch % is %', OLD.id, OLD.status
        USING ERRCODE = 'check_violation', CONSTRAINT = 'batches_go_forward';
END
$$;
CREATE TRIGGER batches_stay_finished BEFORE UPDATE ON batches FOR EACH ROW
    WHEN (OLD.status = 'FINISHED' OR OLD.status = 'CANCELLING' AND NEW.status NOT IN ('CANCELLING', 'FINISHED'))
    EXECUTE FUNCTION guard_batch();
CREATE TRIGGER batches_stay_90_days BEFORE DELETE ON batches FOR EACH ROW
    WHEN (OLD.status <> 'FINISHED' OR OLD.status_since > now() - interval '90 days')
    EXECUTE FUNCTION guard_batch();

CREATE FUNCTION log_a_batch() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    of_service CONSTANT boolean := NEW.changed_by IS NULL;
BEGIN
    INSERT INTO audit_log (actor, action, organisation_id, subject, reason, details)
    SELECT CASE WHEN of_service THEN 'retry-worker' ELSE 'user:' || NEW.changed_by END,
        CASE
            WHEN tg_op = 'INSERT' THEN 'batch.created'
            WHEN NEW.status = 'PAUSED' THEN 'batch.paused'
            WHEN NEW.status = 'RUNNING' THEN 'batch.resumed'
            ELSE 'batch.cancelled'
        END,
        NEW.organisation_id, 'batch:' || NEW.id,
        CASE
            WHEN NOT of_service THEN 'requested over the API'
            WHEN NEW.paused_because = 'DATABASE_CHANGED' THEN 'the database was restored, or another server took over'
            ELSE 'its client, its user or its organisation may not buy'
        END,
        jsonb_build_object('reference', NEW.reference, 'lines', NEW.lines, 'open_lines', NEW.open_lines,
            'amount', money_text(NEW.currency, NEW.amount));
    RETURN NULL;
END
$$;
CREATE TRIGGER batches_are_audited AFTER INSERT ON batches FOR EACH ROW EXECUTE FUNCTION log_a_batch();
CREATE TRIGGER batch_changes_are_audited AFTER UPDATE ON batches FOR EACH ROW
    WHEN (OLD.status <> NEW.status AND NEW.status <> 'FINISHED') EXECUTE FUNCTION log_a_batch();

-- Personal data goes with that of the purchase. What was never bought goes with its batch.
CREATE FUNCTION erase_batch_line() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    UPDATE batch_lines l SET subscriber_identifier = NEW.subscriber_identifier,
        beneficiary_phone_number = NEW.beneficiary_phone_number, comment = NULL
    WHERE l.purchase_id = NEW.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER purchases_erase_their_batch_line AFTER UPDATE OF personal_data_erased_at ON purchases
    FOR EACH ROW WHEN (OLD.personal_data_erased_at IS NULL AND NEW.personal_data_erased_at IS NOT NULL
        AND NEW.idempotency_key LIKE 'vendgate:%')
    EXECUTE FUNCTION erase_batch_line();

-- As migration 40 has it, and batches are paused.
CREATE OR REPLACE FUNCTION number_feed_here() RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    here CONSTANT text := cluster_and_timeline();
    newest bigint;
BEGIN
    IF NOT EXISTS (SELECT FROM feed_numbering WHERE numbered_by <> here) THEN
        RETURN;
    END IF;
    LOCK TABLE feed_numbering IN ACCESS EXCLUSIVE MODE;
    SELECT max(last.transaction_no) INTO newest
    FROM organisations o CROSS JOIN LATERAL (
        SELECT e.transaction_no FROM feed_events e WHERE e.organisation_id = o.id
        ORDER BY e.transaction_no DESC, e.id DESC LIMIT 1
    ) AS last;
    UPDATE feed_numbering SET
        numbered_by = here,
        base = greatest((extract(epoch FROM clock_timestamp()) * 1000000)::bigint, newest + 1)
            - pg_current_xact_id()::text::bigint
    WHERE numbered_by <> here;
    -- What was bought last may be lost with the former cluster, and a line would be bought again. So people look first.
    UPDATE batches SET status = 'PAUSED', status_since = clock_timestamp(), paused_because = 'DATABASE_CHANGED', changed_by = NULL
    WHERE status = 'RUNNING';
END
$$;

-- As before, and the lines of batches.
CREATE OR REPLACE FUNCTION erase_person(identifiers text[], purchases bigint[], finish boolean, actor text, reason text, OUT erased bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    pseudonyms CONSTANT text[] := ARRAY (SELECT pseudonym(i) FROM unnest(identifiers) AS i);
    other bigint;
    refusals bigint := 0;
BEGIN
    SELECT p.id INTO other FROM public.purchases p
    WHERE p.state IN ('IN_FLIGHT', 'IN_DOUBT', 'RETRY_DUE', 'REVIEW')
        AND (p.subscriber_identifier = ANY (identifiers) OR p.beneficiary_phone_number = ANY (identifiers))
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'purchase % of this person is open', other
            USING ERRCODE = 'check_violation', CONSTRAINT = 'erased_persons_have_nothing_open';
    END IF;
    SELECT l.batch_id INTO other FROM batch_lines l
    WHERE l.ended_at IS NULL AND (l.subscriber_identifier = ANY (identifiers) OR l.beneficiary_phone_number = ANY (identifiers))
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'batch % has a line of this person that has not ended', other
            USING ERRCODE = 'check_violation', CONSTRAINT = 'erased_persons_have_nothing_open';
    END IF;
    SELECT i.id INTO other
    FROM unnest(purchases) AS i (id) LEFT JOIN public.purchases p ON p.id = i.id
    WHERE (
        p.subscriber_identifier = ANY (identifiers || pseudonyms) OR p.beneficiary_phone_number = ANY (identifiers)
    ) IS NOT TRUE
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'purchase % is not of this person', other
            USING ERRCODE = 'check_violation', CONSTRAINT = 'erased_purchases_are_the_persons';
    END IF;
    SELECT i.purchase_id INTO other
    FROM incidents i LEFT JOIN incident_decisions d ON d.incident_id = i.id
    WHERE i.purchase_id = ANY (purchases) AND d.incident_id IS NULL
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'purchase % has an incident without a decision', other
            USING ERRCODE = 'check_violation', CONSTRAINT = 'erased_purchases_have_no_open_incident';
    END IF;

    erased := erase_from_purchases(purchases, true, true);
    IF finish THEN
        UPDATE refused_confirms SET subscriber_identifier = NULL WHERE subscriber_identifier = ANY (identifiers);
        GET DIAGNOSTICS refusals = ROW_COUNT;
        -- Only rows of now: a number here is deleted with its message, 30 days after it was sent.
        UPDATE repeated_messages m SET phone_number = NULL,
            given_up_at = CASE WHEN m.sent_at IS NULL THEN coalesce(m.given_up_at, now()) END,
            given_up_because = CASE WHEN m.sent_at IS NULL THEN coalesce(m.given_up_because, 'TOO_OLD') END
        WHERE m.phone_number = ANY (identifiers);
        -- Those that were bought are erased with their purchases.
        UPDATE batch_lines l SET subscriber_identifier = 'erased', beneficiary_phone_number = 'erased', comment = NULL
        WHERE l.purchase_id IS NULL
            AND (l.subscriber_identifier = ANY (identifiers) OR l.beneficiary_phone_number = ANY (identifiers));
    END IF;
    INSERT INTO audit_log (actor, action, subject, reason, details)
    VALUES (actor, 'person.erased', 'person:' || pseudonyms[1], reason,
        jsonb_build_object('pseudonyms', pseudonyms, 'purchases', erased, 'refused_confirms', refusals));
END
$$;

GRANT SELECT, INSERT (organisation_id, client_id, user_id, access_token_id, request_id, reference, content_hash, account_id, language,
    currency, amount, lines, open_lines, changed_by) ON batches TO vendgate_api;
GRANT UPDATE (status, status_since, paused_because, changed_by) ON batches TO vendgate_api;
GRANT SELECT, DELETE, UPDATE (status, status_since, paused_because, changed_by) ON batches TO vendgate_worker;
GRANT SELECT ON batches TO vendgate_operator;
GRANT SELECT, INSERT (batch_id, number, product, provider_code, subscriber_identifier, beneficiary_phone_number, currency, amount,
    charges_on_top, comment, external_reference, requester_sms, beneficiary_sms, requester_email, beneficiary_email)
    ON batch_lines TO vendgate_api;
GRANT UPDATE (state, ended_at) ON batch_lines TO vendgate_api;
GRANT SELECT, UPDATE (state, fence, tries, due_at, purchase_id, rejection, rejection_reason, rejection_amount, ended_at)
    ON batch_lines TO vendgate_worker;
GRANT SELECT ON batch_lines TO vendgate_operator;
GRANT EXECUTE ON FUNCTION batch_line_key TO vendgate_worker;
