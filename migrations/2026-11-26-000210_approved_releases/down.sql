-- Requests of releases are kept, as every request is. No program decides them any more: the constraint that follows admits the rows that
-- are there, and no new ones.
DROP TRIGGER incident_decisions_are_of_another ON incident_decisions;
DROP FUNCTION refuse_own_incidents();
DROP TRIGGER reconciliation_sightings_of_reviews_stay ON reconciliation_sightings;
DROP FUNCTION keep_sightings_of_reviews();
DROP TRIGGER purchases_in_review_are_decided ON purchases;
DROP FUNCTION refuse_reviews_sent_back();
DROP TRIGGER purchases_are_released_by_approval ON purchases;
DROP FUNCTION refuse_unapproved_release();

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

CREATE OR REPLACE FUNCTION approve_resolution(id bigint, reason text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    request CONSTANT approval_requests := decide_request(id, 'APPROVED', reason);
BEGIN
    IF request.act <> 'RESOLVE' THEN
        RAISE EXCEPTION 'request % is about no purchase', id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'approvals_are_carried_out';
    END IF;
END
$$;

CREATE OR REPLACE FUNCTION refuse_approvals_without_act() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF EXISTS (
        SELECT FROM approval_requests r LEFT JOIN purchases p ON p.id = (r.arguments ->> 'purchase')::bigint
        WHERE r.id = NEW.request_id AND r.act = 'RESOLVE'
            AND (p.state = 'SUCCESSFUL' AND p.provider_transaction = r.arguments ->> 'provider_transaction') IS NOT TRUE
    ) THEN
        RAISE EXCEPTION 'request % was approved and not carried out', NEW.request_id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'approvals_are_carried_out';
    END IF;
    RETURN NULL;
END
$$;

UPDATE approval_requests r SET open_for = NULL WHERE r.act = 'RELEASE' AND r.open_for IS NOT NULL;
DROP INDEX approval_requests_of_purchase, approval_requests_of_wallet;
CREATE INDEX approval_requests_of_purchase ON approval_requests (((arguments ->> 'purchase')::bigint)) WHERE act = 'RESOLVE';
ALTER TABLE approval_requests
    DROP CONSTRAINT approval_requests_act_check,
    ADD CONSTRAINT approval_requests_act_check
        CHECK (act IN ('TOP_UP', 'ADJUST', 'REVERSE', 'CHARGE', 'RESOLVE', 'DECLARE', 'THRESHOLD')) NOT VALID;
DELETE FROM approval_thresholds WHERE act = 'RELEASE';
ALTER TABLE approval_thresholds
    DROP CONSTRAINT approval_thresholds_act_check,
    DROP CONSTRAINT approval_thresholds_check,
    ADD CONSTRAINT approval_thresholds_act_check CHECK (act IN ('TOP_UP', 'ADJUST', 'RESOLVE', 'DECLARE')),
    ADD CONSTRAINT approval_thresholds_check CHECK (act IN ('TOP_UP', 'ADJUST') OR above = 0 OR above IS NULL);

-- As before.
CREATE OR REPLACE FUNCTION refuse_own_discrepancies() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF EXISTS (
        SELECT FROM discrepancies d
        JOIN audit_log l ON l.subject = 'purchase:' || d.purchase_id AND l.action = 'purchase.resolved'
        WHERE d.id = NEW.discrepancy_id AND l.details ->> 'as' = 'vended'
            AND session_user IN (l.login, l.details ->> 'on_behalf_of')
    ) THEN
        RAISE EXCEPTION '% decided the purchase of discrepancy %', session_user, NEW.discrepancy_id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'discrepancies_are_closed_by_another';
    END IF;
    RETURN NEW;
END
$$;

DROP FUNCTION login_decided;
