-- Expand. Support has the message of a sold purchase sent again for a customer who calls: by the rule of the integrators, and counted
-- together with theirs. A message that was given up is sent after all when its cause is repaired. Functions do both, and write the line
-- of the audit log themselves, without any phone number.

-- Without a user, an operator asked for it.
ALTER TABLE repeated_messages ALTER COLUMN requested_by DROP NOT NULL, ADD COLUMN requested_by_login text;

-- As before, and the login of the operator.
CREATE OR REPLACE FUNCTION admit_repeated_message() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
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
    NEW.requested_by_login := CASE WHEN NEW.requested_by IS NULL THEN session_user END;
    RETURN NEW;
END
$$;

-- Writes a message that is to be sent again, for a user of the organisation or for an operator. Without `at`, as many as the request
-- allows were asked for within a day. It runs with the rights of its caller.
CREATE FUNCTION repeat_message(purchase bigint, organisation bigint, corrected text, by_user bigint, per_day integer,
    OUT at timestamptz, OUT remaining bigint) LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    asked bigint;
BEGIN
    -- One request for a purchase at a time, so that each counts those before it.
    PERFORM pg_advisory_xact_lock(hashtextextended('vendgate.repeated_messages.' || purchase, 0));
    SELECT count(*) INTO asked FROM repeated_messages m
    WHERE m.purchase_id = purchase AND m.written_at > clock_timestamp() - interval '1 day';
    IF asked >= per_day THEN
        RETURN;
    END IF;
    INSERT INTO repeated_messages AS m (purchase_id, phone_number, requested_by)
    SELECT p.id, corrected, by_user FROM purchases p WHERE p.id = purchase AND p.organisation_id = organisation
    RETURNING m.written_at INTO at;
    remaining := per_day - asked - 1;
END
$$;

CREATE FUNCTION resend_message(purchase bigint, corrected text, per_day integer, actor text, reason text,
    OUT at timestamptz, OUT remaining bigint) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    organisation bigint;
BEGIN
    SELECT p.organisation_id INTO organisation FROM purchases p WHERE p.id = purchase;
    SELECT r.at, r.remaining INTO at, remaining FROM repeat_message(purchase, organisation, corrected, NULL, per_day) r;
    IF at IS NOT NULL THEN
        INSERT INTO audit_log (actor, action, organisation_id, subject, reason, details)
        VALUES (actor, 'message.repeated', organisation, 'purchase:' || purchase, reason,
            jsonb_build_object('to_corrected_number', corrected IS NOT NULL));
    END IF;
END
$$;

-- Messages of one purchase that were given up wait again, as if they were new. Nothing is sent about a purchase whose personal data or
-- token was erased.
CREATE FUNCTION requeue_messages(purchase bigint, actor text, reason text, OUT requeued bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    organisation bigint;
    repeats bigint;
BEGIN
    requeued := 0;
    SELECT p.organisation_id INTO organisation FROM purchases p
    WHERE p.id = purchase AND p.personal_data_erased_at IS NULL AND p.sealed_values_erased_at IS NULL;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    UPDATE outbox o SET given_up_at = NULL, given_up_because = NULL, attempts = 0,
        written_at = clock_timestamp(), due_at = clock_timestamp()
    WHERE o.purchase_id = purchase AND o.given_up_at IS NOT NULL;
    GET DIAGNOSTICS requeued = ROW_COUNT;
    UPDATE repeated_messages m SET given_up_at = NULL, given_up_because = NULL, attempts = 0,
        written_at = clock_timestamp(), due_at = clock_timestamp()
    WHERE m.purchase_id = purchase AND m.given_up_at IS NOT NULL;
    GET DIAGNOSTICS repeats = ROW_COUNT;
    requeued := requeued + repeats;
    IF requeued > 0 THEN
        INSERT INTO audit_log (actor, action, organisation_id, subject, reason, details)
        VALUES (actor, 'messages.requeued', organisation, 'purchase:' || purchase, reason,
            jsonb_build_object('messages', requeued));
    END IF;
END
$$;

GRANT EXECUTE ON FUNCTION repeat_message TO vendgate_api;
GRANT EXECUTE ON FUNCTION resend_message, requeue_messages TO vendgate_operator, vendgate_support, vendgate_administrator;
