-- Expand. A message is deleted 30 days after it was sent or given up: until then it answers a customer who asks for it.

DROP TRIGGER outbox_stays ON outbox;
CREATE TRIGGER outbox_is_not_emptied BEFORE TRUNCATE ON outbox
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();

CREATE FUNCTION refuse_to_forget_a_message() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'the message about purchase % is still to be sent, or was sent within the last 30 days', OLD.purchase_id
        USING ERRCODE = 'restrict_violation';
END
$$;

CREATE TRIGGER outbox_stays_for_30_days BEFORE DELETE ON outbox
    FOR EACH ROW WHEN ((coalesce(OLD.sent_at, OLD.given_up_at) < now() - interval '30 days') IS NOT TRUE)
    EXECUTE FUNCTION refuse_to_forget_a_message();

GRANT DELETE ON outbox TO vendgate_worker;
