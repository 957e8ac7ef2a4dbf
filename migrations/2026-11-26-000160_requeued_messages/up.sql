-- Expand. A message that was given up and then sent after all looked like one that was never given up. It keeps when and why it was
-- last given up, and when it was first written.
ALTER TABLE outbox ADD COLUMN first_written_at timestamptz, ADD COLUMN earlier_given_up_at timestamptz,
    ADD COLUMN earlier_given_up_because text;
ALTER TABLE repeated_messages ADD COLUMN first_written_at timestamptz, ADD COLUMN earlier_given_up_at timestamptz,
    ADD COLUMN earlier_given_up_because text;

-- As before, and it keeps what was.
CREATE OR REPLACE FUNCTION requeue_messages(purchase bigint, actor text, reason text, OUT requeued bigint)
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
    UPDATE outbox o SET first_written_at = coalesce(o.first_written_at, o.written_at),
        earlier_given_up_at = o.given_up_at, earlier_given_up_because = o.given_up_because,
        given_up_at = NULL, given_up_because = NULL, attempts = 0,
        written_at = clock_timestamp(), due_at = clock_timestamp()
    WHERE o.purchase_id = purchase AND o.given_up_at IS NOT NULL;
    GET DIAGNOSTICS requeued = ROW_COUNT;
    UPDATE repeated_messages m SET first_written_at = coalesce(m.first_written_at, m.written_at),
        earlier_given_up_at = m.given_up_at, earlier_given_up_because = m.given_up_because,
        given_up_at = NULL, given_up_because = NULL, attempts = 0,
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
