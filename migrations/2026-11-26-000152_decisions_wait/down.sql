DROP TRIGGER purchases_end_past_no_request ON purchases;
DROP FUNCTION refuse_ends_past_a_request();

-- As before.
CREATE OR REPLACE FUNCTION request_approval(act text, arguments jsonb, actor text, reason text, token_key_id integer, sealed_token bytea,
    token_sha256 bytea) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    request bigint;
BEGIN
    PERFORM require_role(role_of_act(act));
    UPDATE approval_requests r SET sealed_token = NULL, token_key_id = NULL, open_for = NULL
    WHERE (r.sealed_token IS NOT NULL OR r.open_for IS NOT NULL) AND r.expires_at < clock_timestamp();
    SELECT r.id INTO request
    FROM approval_requests r LEFT JOIN approval_decisions d ON d.request_id = r.id
    WHERE r.act = act AND r.arguments = arguments AND r.token_sha256 IS NOT DISTINCT FROM token_sha256
        AND r.requested_by = session_user AND r.expires_at > clock_timestamp() AND d.request_id IS NULL
    LIMIT 1;
    IF FOUND THEN
        RETURN request;
    END IF;
    INSERT INTO approval_requests AS r (act, arguments, reason, token_key_id, sealed_token, token_sha256, requested_by, open_for)
    VALUES (act, arguments, reason, token_key_id, sealed_token, token_sha256, session_user,
        CASE WHEN act = 'RESOLVE' THEN (arguments ->> 'purchase')::bigint END)
    RETURNING r.id INTO request;
    INSERT INTO audit_log (actor, action, subject, reason, details)
    VALUES (actor, 'approval.requested', 'approval:' || request, reason,
        jsonb_build_object('act', act, 'arguments', arguments));
    RETURN request;
END
$$;
