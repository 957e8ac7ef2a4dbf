-- As before.
CREATE OR REPLACE FUNCTION request_approval(act text, arguments jsonb, actor text, reason text, token_key_id integer, sealed_token bytea,
    token_sha256 bytea) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    request bigint;
BEGIN
    PERFORM require_role(role_of_act(act));
    UPDATE approval_requests r SET sealed_token = NULL, token_key_id = NULL
    WHERE r.sealed_token IS NOT NULL AND r.expires_at < clock_timestamp();
    SELECT r.id INTO request
    FROM approval_requests r LEFT JOIN approval_decisions d ON d.request_id = r.id
    WHERE r.act = act AND r.arguments = arguments AND r.token_sha256 IS NOT DISTINCT FROM token_sha256
        AND r.requested_by = session_user AND r.expires_at > clock_timestamp() AND d.request_id IS NULL
    LIMIT 1;
    IF FOUND THEN
        RETURN request;
    END IF;
    INSERT INTO approval_requests AS r (act, arguments, reason, token_key_id, sealed_token, token_sha256, requested_by)
    VALUES (act, arguments, reason, token_key_id, sealed_token, token_sha256, session_user)
    RETURNING r.id INTO request;
    INSERT INTO audit_log (actor, action, subject, reason, details)
    VALUES (actor, 'approval.requested', 'approval:' || request, reason,
        jsonb_build_object('act', act, 'arguments', arguments));
    RETURN request;
END
$$;

CREATE OR REPLACE FUNCTION decide_request(id bigint, decision text, reason text) RETURNS approval_requests LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    request approval_requests;
BEGIN
    SELECT r.* INTO request FROM approval_requests r WHERE r.id = id FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no request %', id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'approvals_are_of_requests';
    END IF;
    IF decision = 'APPROVED' THEN
        PERFORM require_role(role_of_act(request.act));
        IF request.requested_by = session_user THEN
            RAISE EXCEPTION '% made request %', session_user, id
                USING ERRCODE = 'check_violation', CONSTRAINT = 'approvals_are_of_another_person';
        END IF;
        IF request.expires_at <= clock_timestamp() THEN
            RAISE EXCEPTION 'request % has expired', id
                USING ERRCODE = 'check_violation', CONSTRAINT = 'approvals_are_in_time';
        END IF;
    ELSIF request.requested_by <> session_user THEN
        PERFORM require_role(role_of_act(request.act));
    END IF;
    INSERT INTO approval_decisions (request_id, decision, decided_by, reason) VALUES (id, decision, session_user, reason);
    UPDATE approval_requests r SET sealed_token = NULL, token_key_id = NULL WHERE r.id = id AND r.sealed_token IS NOT NULL;
    INSERT INTO audit_log (actor, action, subject, reason, details)
    VALUES (session_user, 'approval.' || lower(decision), 'approval:' || id, reason, jsonb_build_object(
        'act', request.act, 'arguments', request.arguments, 'requested_by', request.requested_by));
    IF decision = 'APPROVED' THEN
        DELETE FROM approvals_under_way u WHERE u.transaction_id <> pg_current_xact_id();
        INSERT INTO approvals_under_way (transaction_id, request_id) VALUES (pg_current_xact_id(), id);
    END IF;
    RETURN request;
END
$$;

DROP INDEX approval_requests_one_open_per_purchase;
ALTER TABLE approval_requests DROP COLUMN open_for;
