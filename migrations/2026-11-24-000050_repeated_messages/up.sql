-- Expand. An integrator may have the message with the token sent again, a few times a day, also to a corrected number. The outbox
-- has one row for each recipient and channel, without a number, and programs of earlier schemas find a row by these. So repeats
-- have a table of their own, which the same senders read.
CREATE TABLE repeated_messages (
    purchase_id  bigint NOT NULL,
    number       smallint NOT NULL CHECK (number > 0),
    -- The corrected number. Null: the number of the purchase.
    phone_number text CHECK (phone_number ~ '^[0-9]{6,15}$'),
    -- The user who asked for it.
    requested_by bigint NOT NULL,
    written_at   timestamptz NOT NULL,
    due_at       timestamptz NOT NULL,
    attempts     smallint NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    sent_at      timestamptz,
    given_up_at  timestamptz,
    given_up_because text CHECK (given_up_because IN ('NO_CHANNEL', 'NOBODY', 'REFUSED', 'TOO_OLD', 'TOO_OFTEN')),
    -- No foreign key, for the reason that the tables of purchases have none.
    PRIMARY KEY (purchase_id, number),
    CONSTRAINT repeated_messages_end_once CHECK (sent_at IS NULL OR given_up_at IS NULL),
    CONSTRAINT repeated_messages_say_why CHECK ((given_up_at IS NULL) = (given_up_because IS NULL))
) WITH (fillfactor = 80);
CREATE INDEX repeated_messages_due ON repeated_messages (due_at) WHERE sent_at IS NULL AND given_up_at IS NULL;

-- A server may ask for the message of what was sold, and at most ten times within a day, whatever its settings say. The next number
-- is given here, so that two at the same time cannot have the same.
CREATE FUNCTION admit_repeated_message() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    per_day_max CONSTANT integer := 10;
BEGIN
    IF NOT EXISTS (SELECT FROM purchases p WHERE p.id = NEW.purchase_id AND p.state = 'SUCCESSFUL') THEN
        RAISE EXCEPTION 'purchase % is not sold', NEW.purchase_id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'repeated_messages_are_of_what_was_sold';
    END IF;
    IF (SELECT count(*) FROM repeated_messages m WHERE m.purchase_id = NEW.purchase_id
            AND m.written_at > clock_timestamp() - interval '1 day') >= per_day_max THEN
        RAISE EXCEPTION 'the message of purchase % was repeated % times within a day', NEW.purchase_id, per_day_max
            USING ERRCODE = 'check_violation', CONSTRAINT = 'repeated_messages_are_few';
    END IF;
    NEW.number := 1 + coalesce(
        (SELECT max(m.number) FROM repeated_messages m WHERE m.purchase_id = NEW.purchase_id), 0);
    NEW.written_at := clock_timestamp();
    NEW.due_at := NEW.written_at;
    RETURN NEW;
END
$$;
CREATE TRIGGER repeated_messages_are_admitted BEFORE INSERT ON repeated_messages
    FOR EACH ROW EXECUTE FUNCTION admit_repeated_message();

CREATE TRIGGER repeated_messages_are_not_emptied BEFORE TRUNCATE ON repeated_messages
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();
CREATE TRIGGER repeated_messages_stay_for_30_days BEFORE DELETE ON repeated_messages
    FOR EACH ROW WHEN ((coalesce(OLD.sent_at, OLD.given_up_at) < now() - interval '30 days') IS NOT TRUE)
    EXECUTE FUNCTION refuse_to_forget_a_message();
CREATE TRIGGER repeated_messages_are_sent_once BEFORE UPDATE OF due_at, attempts, sent_at ON repeated_messages
    FOR EACH ROW WHEN (OLD.sent_at IS NOT NULL) EXECUTE FUNCTION refuse_to_send_again();

-- A number goes with the personal data of its purchase, and what still waits is not sent to another one.
CREATE FUNCTION erase_repeated_messages() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    UPDATE repeated_messages m SET phone_number = NULL,
        given_up_at = CASE WHEN m.sent_at IS NULL THEN coalesce(m.given_up_at, now()) END,
        given_up_because = CASE WHEN m.sent_at IS NULL THEN coalesce(m.given_up_because, 'TOO_OLD') END
    WHERE m.purchase_id = NEW.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER purchases_erase_their_repeated_messages AFTER UPDATE OF personal_data_erased_at ON purchases
    FOR EACH ROW WHEN (OLD.personal_data_erased_at IS NULL AND NEW.personal_data_erased_at IS NOT NULL)
    EXECUTE FUNCTION erase_repeated_messages();

-- As before, and the corrected numbers.
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
    END IF;
    INSERT INTO audit_log (actor, action, subject, reason, details)
    VALUES (actor, 'person.erased', 'person:' || pseudonyms[1], reason,
        jsonb_build_object('pseudonyms', pseudonyms, 'purchases', erased, 'refused_confirms', refusals));
END
$$;

GRANT SELECT ON repeated_messages TO vendgate_api, vendgate_worker;
GRANT INSERT (purchase_id, phone_number, requested_by) ON repeated_messages TO vendgate_api;
GRANT DELETE, UPDATE (due_at, attempts, sent_at, given_up_at, given_up_because) ON repeated_messages TO vendgate_worker;
