-- Expand. While a request says that a purchase was vended, a person could decide alone that it was not, if both acted at the same
-- moment or by a program of their own: a refund of what was vended. Now the database refuses the decision while the request waits, and
-- the request once the purchase has ended.

-- A person ends a purchase only when no request about it waits. What an approval is about waits no more in its transaction. Servers and
-- workers record what a provider answered: for them the function is not even called.
CREATE FUNCTION refuse_ends_past_a_request() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF EXISTS (
        SELECT FROM changed c JOIN approval_requests r ON r.open_for = c.id
        WHERE c.state IN ('SUCCESSFUL', 'FAILED') AND r.expires_at > clock_timestamp()
            AND num_nonnulls(c.personal_data_erased_at, c.sealed_values_erased_at, c.archive_id) = 0
    ) THEN
        RAISE EXCEPTION 'a request about this purchase waits'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'decisions_wait_for_open_requests';
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER purchases_end_past_no_request AFTER UPDATE ON purchases
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
    WHEN (pg_has_role(session_user, 'vendgate_operator', 'MEMBER') OR pg_has_role(session_user, 'vendgate_administrator', 'MEMBER'))
    EXECUTE FUNCTION refuse_ends_past_a_request();

-- As before, and only about a purchase in review.
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
    -- A decision that is being recorded now holds the lock of its purchase. Only its commit shows whether there is still one to request.
    IF act = 'RESOLVE' THEN
        PERFORM FROM purchases p WHERE p.id = (arguments ->> 'purchase')::bigint AND p.state = 'REVIEW' FOR SHARE;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'purchase % is not in review', arguments ->> 'purchase'
                USING ERRCODE = 'check_violation', CONSTRAINT = 'requests_are_about_purchases_in_review';
        END IF;
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
