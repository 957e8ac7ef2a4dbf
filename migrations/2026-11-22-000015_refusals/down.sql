DROP TABLE refused_confirms;
DROP FUNCTION refuse_to_forget_a_refusal;

-- As migration 4 has it.
CREATE OR REPLACE FUNCTION refuse_a_held_key() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
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
