DROP FUNCTION requeue_messages(bigint, text, text);
DROP FUNCTION resend_message(bigint, text, integer, text, text);
DROP FUNCTION repeat_message(bigint, bigint, text, bigint, integer);

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
    RETURN NEW;
END
$$;

-- No user has this number.
UPDATE repeated_messages SET requested_by = 0 WHERE requested_by IS NULL;
ALTER TABLE repeated_messages DROP COLUMN requested_by_login, ALTER COLUMN requested_by SET NOT NULL;
