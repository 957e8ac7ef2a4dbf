-- Expand. A customer who has lost the slip asks for the tokens of a meter again. Whoever reads them by the meter alone leaves a line
-- in the audit log, in the same transaction: who, which meter, and which purchases were shown.

-- The last successful purchases of a subscriber that have tokens, for the organisation that sold them: at most `rows_max`, of the
-- last `days`, the newest first. Null if the organisation has looked up too many within the hour, because the log is kept for
-- ever. The identifier is in the line only if a purchase has it. Any other one may be a phone number, so its pseudonym is written.
CREATE FUNCTION look_up_purchases(organisation bigint, client bigint, reader bigint, subscriber text, days integer,
    rows_max integer, per_hour_max integer) RETURNS bigint[]
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    shown bigint[];
BEGIN
    -- One look at a time, so that each counts those before it. The line locks the same row.
    PERFORM FROM audit_head FOR UPDATE;
    IF (SELECT count(*) FROM audit_log l WHERE l.organisation_id = organisation AND l.action = 'subscriber.looked_up'
            AND l.at > clock_timestamp() - interval '1 hour') >= per_hour_max THEN
        RETURN NULL;
    END IF;
    shown := ARRAY (
        SELECT p.id FROM purchases p
        WHERE p.organisation_id = organisation AND p.subscriber_identifier = subscriber AND p.state = 'SUCCESSFUL'
            AND p.product <> 'AIRTIME' AND p.created_at > now() - days * interval '1 day'
        ORDER BY p.created_at DESC, p.id DESC LIMIT rows_max
    );
    INSERT INTO audit_log (actor, action, organisation_id, subject, reason, details)
    VALUES ('user:' || reader, 'subscriber.looked_up', organisation,
        'subscriber:' || CASE WHEN shown = '{}' THEN pseudonym(subscriber) ELSE subscriber END,
        'the last tokens of a subscriber were read', jsonb_build_object('client', client, 'purchases', to_jsonb(shown)));
    RETURN shown;
END
$$;
GRANT EXECUTE ON FUNCTION look_up_purchases TO vendgate_api;
