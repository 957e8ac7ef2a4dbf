-- Expand. One person could decide that a purchase was not vended, and so give its money back for what may have been vended, even
-- though a statement of the provider lists the vend. Now an administrator may set an amount above which a release needs a second person,
-- and a release past a statement always needs one. Without a threshold, nothing else changes.

ALTER TABLE approval_thresholds
    DROP CONSTRAINT approval_thresholds_act_check,
    DROP CONSTRAINT approval_thresholds_check,
    ADD CONSTRAINT approval_thresholds_act_check CHECK (act IN ('TOP_UP', 'ADJUST', 'RESOLVE', 'RELEASE', 'DECLARE')),
    -- The other two have no amount: they always need a second person, or never.
    ADD CONSTRAINT approval_thresholds_check CHECK (act IN ('TOP_UP', 'ADJUST', 'RELEASE') OR above = 0 OR above IS NULL);
INSERT INTO approval_thresholds (act) VALUES ('RELEASE');

ALTER TABLE approval_requests
    DROP CONSTRAINT approval_requests_act_check,
    ADD CONSTRAINT approval_requests_act_check
        CHECK (act IN ('TOP_UP', 'ADJUST', 'REVERSE', 'CHARGE', 'RESOLVE', 'RELEASE', 'DECLARE', 'THRESHOLD'));
DROP INDEX approval_requests_of_purchase;
CREATE INDEX approval_requests_of_purchase ON approval_requests (((arguments ->> 'purchase')::bigint)) WHERE act IN ('RESOLVE', 'RELEASE');
-- The audit log of a wallet tells the requests about it. They are kept for ever, so they are found by an index.
CREATE INDEX approval_requests_of_wallet ON approval_requests (((arguments ->> 'wallet')::bigint)) WHERE arguments ? 'wallet';

-- As before, and for a release too.
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
    IF act IN ('RESOLVE', 'RELEASE') THEN
        PERFORM FROM purchases p WHERE p.id = (arguments ->> 'purchase')::bigint AND p.state = 'REVIEW' FOR SHARE;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'purchase % is not in review', arguments ->> 'purchase'
                USING ERRCODE = 'check_violation', CONSTRAINT = 'requests_are_about_purchases_in_review';
        END IF;
    END IF;
    INSERT INTO approval_requests AS r (act, arguments, reason, token_key_id, sealed_token, token_sha256, requested_by, open_for)
    VALUES (act, arguments, reason, token_key_id, sealed_token, token_sha256, session_user,
        CASE WHEN act IN ('RESOLVE', 'RELEASE') THEN (arguments ->> 'purchase')::bigint END)
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
    IF request.act NOT IN ('RESOLVE', 'RELEASE') THEN
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
        WHERE r.id = NEW.request_id AND CASE r.act
            WHEN 'RESOLVE' THEN (p.state = 'SUCCESSFUL' AND p.provider_transaction = r.arguments ->> 'provider_transaction') IS NOT TRUE
            WHEN 'RELEASE' THEN (p.state = 'FAILED') IS NOT TRUE
            ELSE false
        END
    ) THEN
        RAISE EXCEPTION 'request % was approved and not carried out', NEW.request_id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'approvals_are_carried_out';
    END IF;
    RETURN NULL;
END
$$;

-- Servers and workers record what a provider answered: for them the function is not even called. A purchase that had ended before is not
-- released again.
CREATE FUNCTION refuse_unapproved_release() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (act_needs_approval('RELEASE', NEW.total) OR EXISTS (SELECT FROM reconciliation_sightings s WHERE s.purchase_id = NEW.id))
        AND NOT EXISTS (
            SELECT FROM approvals_under_way u JOIN approval_requests r ON r.id = u.request_id
            WHERE u.transaction_id = pg_current_xact_id() AND r.act = 'RELEASE' AND (r.arguments ->> 'purchase')::bigint = NEW.id
                -- The second person agreed to the statement too, if there is one.
                AND (r.arguments ->> 'despite_statement' IS NOT NULL
                    OR NOT EXISTS (SELECT FROM reconciliation_sightings s WHERE s.purchase_id = NEW.id))
        )
    THEN
        RAISE EXCEPTION 'this needs the approval of another person'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'acts_above_the_threshold_are_approved';
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER purchases_are_released_by_approval AFTER UPDATE OF state ON purchases
    FOR EACH ROW
    WHEN (NEW.state = 'FAILED' AND OLD.state <> 'FAILED'
        AND (pg_has_role(session_user, 'vendgate_operator', 'MEMBER') OR pg_has_role(session_user, 'vendgate_administrator', 'MEMBER')))
    EXECUTE FUNCTION refuse_unapproved_release();

-- What a statement said about a purchase that waits for a decision stays. Otherwise one person could take it away, and release.
CREATE FUNCTION keep_sightings_of_reviews() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM purchases p WHERE p.id = OLD.purchase_id AND p.state = 'REVIEW') THEN
        RAISE EXCEPTION 'purchase % waits for a decision', OLD.purchase_id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN OLD;
END
$$;
CREATE TRIGGER reconciliation_sightings_of_reviews_stay BEFORE DELETE ON reconciliation_sightings
    FOR EACH ROW EXECUTE FUNCTION keep_sightings_of_reviews();

-- A person ends a review, and does not send it back: a worker would end it then, for which no second person is asked.
CREATE FUNCTION refuse_reviews_sent_back() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'purchase % waits for a decision', OLD.id USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER purchases_in_review_are_decided BEFORE UPDATE OF state ON purchases
    FOR EACH ROW
    WHEN (OLD.state = 'REVIEW' AND NEW.state IN ('IN_FLIGHT', 'IN_DOUBT', 'RETRY_DUE')
        AND (pg_has_role(session_user, 'vendgate_operator', 'MEMBER') OR pg_has_role(session_user, 'vendgate_administrator', 'MEMBER')))
    EXECUTE FUNCTION refuse_reviews_sent_back();

-- Whether this login has decided a purchase as one of these, or asked for that decision.
CREATE FUNCTION login_decided(purchase bigint, findings text[]) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM audit_log l
        WHERE l.subject = 'purchase:' || $1 AND l.action = 'purchase.resolved' AND l.details ->> 'as' = ANY ($2)
            AND session_user IN (l.login, l.details ->> 'on_behalf_of')
    )
$$;

-- As before, and of who released the purchase or asked for that: the statement may show that this was wrong.
CREATE OR REPLACE FUNCTION refuse_own_discrepancies() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF EXISTS (
        SELECT FROM discrepancies d
        WHERE d.id = NEW.discrepancy_id AND login_decided(d.purchase_id, ARRAY['vended', 'not-vended'])
    ) THEN
        RAISE EXCEPTION '% decided the purchase of discrepancy %', session_user, NEW.discrepancy_id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'discrepancies_are_closed_by_another';
    END IF;
    RETURN NEW;
END
$$;

-- The same holds for the incident of a vend that was found after the release.
CREATE FUNCTION refuse_own_incidents() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF EXISTS (
        SELECT FROM incidents i WHERE i.id = NEW.incident_id AND login_decided(i.purchase_id, ARRAY['not-vended'])
    ) THEN
        RAISE EXCEPTION '% decided the purchase of incident %', session_user, NEW.incident_id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'discrepancies_are_closed_by_another';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER incident_decisions_are_of_another BEFORE INSERT ON incident_decisions
    FOR EACH ROW EXECUTE FUNCTION refuse_own_incidents();
