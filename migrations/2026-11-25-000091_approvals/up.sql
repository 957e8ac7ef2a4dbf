-- Expand. Above a threshold that the administrator sets, an act needs two people. Who wants it makes a request, and another login of
-- the same role approves it. The database carries out what was requested, with exactly the requested values, in the transaction of
-- the approval. So it is done once, or not at all. Without a threshold, nothing changes.

CREATE TABLE approval_thresholds (
    act   text PRIMARY KEY CHECK (act IN ('TOP_UP', 'ADJUST', 'RESOLVE', 'DECLARE')),
    -- An act of more than this amount, in hundredths of any currency, needs a second person. NULL: none does.
    above bigint CHECK (above >= 0),
    -- These two have no amount: they always need a second person, or never.
    CHECK (act IN ('TOP_UP', 'ADJUST') OR above = 0 OR above IS NULL)
);
INSERT INTO approval_thresholds (act) VALUES ('TOP_UP'), ('ADJUST'), ('RESOLVE'), ('DECLARE');

CREATE TABLE approval_requests (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    act          text NOT NULL CHECK (act IN ('TOP_UP', 'ADJUST', 'REVERSE', 'CHARGE', 'RESOLVE', 'DECLARE', 'THRESHOLD')),
    arguments    jsonb NOT NULL CHECK (jsonb_typeof(arguments) = 'object'),
    reason       text NOT NULL CHECK (reason <> ''),
    -- The token of a vend, sealed as that of a purchase, until it is decided. Its digest stays.
    token_key_id integer,
    sealed_token bytea,
    token_sha256 bytea CHECK (octet_length(token_sha256) = 32),
    requested_by text NOT NULL,
    requested_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at   timestamptz NOT NULL DEFAULT clock_timestamp() + interval '3 days',
    CHECK ((token_key_id IS NULL) = (sealed_token IS NULL)),
    CHECK (act = 'RESOLVE' OR token_sha256 IS NULL),
    CHECK (sealed_token IS NULL OR token_sha256 IS NOT NULL)
);
CREATE TRIGGER approval_requests_are_kept
    BEFORE UPDATE OF id, act, arguments, reason, token_sha256, requested_by, requested_at, expires_at OR DELETE OR TRUNCATE
    ON approval_requests FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();

CREATE TABLE approval_decisions (
    request_id bigint PRIMARY KEY REFERENCES approval_requests (id),
    decision   text NOT NULL CHECK (decision IN ('APPROVED', 'REJECTED')),
    decided_by text NOT NULL,
    decided_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    reason     text NOT NULL CHECK (reason <> '')
);
CREATE TRIGGER approval_decisions_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON approval_decisions
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();

-- The transaction that carries out an approved request at this moment. Only functions below write it: no role has a right to this
-- table. A row may stay until the next approval. It is harmless, because no later transaction has its number.
CREATE TABLE approvals_under_way (
    transaction_id xid8 PRIMARY KEY,
    request_id     bigint NOT NULL
);

CREATE FUNCTION require_role(role text) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT login_has_role(role) THEN
        RAISE EXCEPTION '% needs the role %', session_user, role USING ERRCODE = 'insufficient_privilege';
    END IF;
END
$$;

CREATE FUNCTION role_of_act(act text) RETURNS text LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT CASE WHEN act IN ('TOP_UP', 'ADJUST', 'REVERSE', 'CHARGE') THEN 'finance' ELSE 'administrator' END
$$;

-- Whether an act of this amount needs a second person. Reversals and charges are corrections. An act without an amount gives 1.
CREATE FUNCTION act_needs_approval(act text, minor bigint) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM approval_thresholds t
        WHERE t.act = CASE WHEN $1 IN ('REVERSE', 'CHARGE') THEN 'ADJUST' ELSE $1 END AND $2 > t.above
    )
$$;

CREATE FUNCTION refuse_unapproved(act text, minor bigint, covering text[]) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    IF act_needs_approval(act, minor) AND NOT EXISTS (
        SELECT FROM approvals_under_way u JOIN approval_requests r ON r.id = u.request_id
        WHERE u.transaction_id = pg_current_xact_id() AND r.act = ANY (covering)
    ) THEN
        RAISE EXCEPTION 'this needs the approval of another person'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'acts_above_the_threshold_are_approved';
    END IF;
END
$$;

-- Payments: what posts one is as before, and only this may call it.
ALTER FUNCTION post_payment(bigint, text, text, boolean, bigint, text, text, text) RENAME TO post_checked_payment;
REVOKE EXECUTE ON FUNCTION post_checked_payment FROM vendgate_operator, vendgate_finance;
CREATE FUNCTION post_payment(wallet bigint, kind text, against text, takes boolean, minor bigint, reference text, actor text,
    reason text, OUT entry_id bigint, OUT entry_posted_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    -- The administrator opens wallets, and the first one of an organisation in staging is loaded. That money is not real.
    IF NOT (
        kind = 'TOP_UP' AND login_has_role('administrator') AND EXISTS (
            SELECT FROM accounts a JOIN organisations o ON o.id = a.organisation_id
            WHERE a.id = wallet AND o.environment = 'STAGING'
        ) AND NOT EXISTS (SELECT FROM postings p WHERE wallet IN (p.credit_account_id, p.debit_account_id))
    ) THEN
        PERFORM require_role('finance');
        PERFORM refuse_unapproved(kind, minor, ARRAY['TOP_UP', 'ADJUST', 'REVERSE', 'CHARGE']);
    END IF;
    SELECT p.entry_id, p.entry_posted_at INTO entry_id, entry_posted_at
    FROM post_checked_payment(wallet, kind, against, takes, minor, reference, actor, reason) p;
END
$$;
GRANT EXECUTE ON FUNCTION post_payment TO vendgate_operator, vendgate_finance, vendgate_administrator;

-- A person who ends a purchase as vended needs the approval of exactly that. Servers and workers record what a provider answered: for
-- them the function is not even called.
CREATE FUNCTION refuse_unapproved_ends() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF act_needs_approval('RESOLVE', 1) AND EXISTS (
        SELECT FROM changed c
        WHERE c.state = 'SUCCESSFUL' AND num_nonnulls(c.personal_data_erased_at, c.sealed_values_erased_at, c.archive_id) = 0
            AND NOT EXISTS (
                SELECT FROM approvals_under_way u JOIN approval_requests r ON r.id = u.request_id
                WHERE u.transaction_id = pg_current_xact_id() AND r.act = 'RESOLVE'
                    AND (r.arguments ->> 'purchase')::bigint = c.id
                    AND r.arguments ->> 'provider_transaction' IS NOT DISTINCT FROM c.provider_transaction
                    AND (r.arguments ->> 'quantity')::numeric IS NOT DISTINCT FROM c.units_quantity
                    AND r.arguments ->> 'unit' IS NOT DISTINCT FROM c.units_unit
                    AND (r.token_sha256 IS NULL) = (c.sealed_token IS NULL)
            )
    ) THEN
        RAISE EXCEPTION 'this needs the approval of another person'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'acts_above_the_threshold_are_approved';
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER purchases_end_by_approval AFTER UPDATE ON purchases
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
    WHEN (pg_has_role(session_user, 'vendgate_operator', 'MEMBER') OR pg_has_role(session_user, 'vendgate_administrator', 'MEMBER'))
    EXECUTE FUNCTION refuse_unapproved_ends();

CREATE FUNCTION refuse_unapproved_declarations() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF tg_op = 'INSERT' THEN
        -- An insert that finds the provider becomes an update. A new provider that declares nothing promises nothing.
        IF (NEW.repeat_is_safe, NEW.remembers_refusals, NEW.not_found_counts, NEW.settles_within_s) = (false, false, false, 600)
            OR EXISTS (SELECT FROM providers p WHERE p.code = NEW.code) THEN
            RETURN NEW;
        END IF;
    ELSIF (NEW.repeat_is_safe, NEW.remembers_refusals, NEW.not_found_counts, NEW.settles_within_s)
        = (OLD.repeat_is_safe, OLD.remembers_refusals, OLD.not_found_counts, OLD.settles_within_s) THEN
        RETURN NEW;
    END IF;
    PERFORM refuse_unapproved('DECLARE', 1, ARRAY['DECLARE']);
    RETURN NEW;
END
$$;
CREATE TRIGGER providers_are_declared_by_approval BEFORE INSERT OR UPDATE ON providers
    FOR EACH ROW EXECUTE FUNCTION refuse_unapproved_declarations();

-- Sets a threshold, or switches it off by NULL. What lowers the protection needs a second person, too.
CREATE FUNCTION set_approval_threshold(act text, above bigint, actor text, reason text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    current approval_thresholds;
BEGIN
    PERFORM require_role('administrator');
    SELECT t.* INTO STRICT current FROM approval_thresholds t WHERE t.act = act FOR UPDATE;
    IF (above IS NULL OR above > current.above) AND current.above IS NOT NULL AND NOT EXISTS (
        SELECT FROM approvals_under_way u JOIN approval_requests r ON r.id = u.request_id
        WHERE u.transaction_id = pg_current_xact_id() AND r.act = 'THRESHOLD'
    ) THEN
        RAISE EXCEPTION 'this needs the approval of another person'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'acts_above_the_threshold_are_approved';
    END IF;
    UPDATE approval_thresholds t SET above = above WHERE t.act = act;
    INSERT INTO audit_log (actor, action, subject, reason, details)
    VALUES (actor, 'approval.threshold_set', 'approval_threshold:' || lower(act), reason,
        jsonb_build_object('above', above, 'before', current.above));
END
$$;

-- Makes a request. The same request that is still open is not made again.
CREATE FUNCTION request_approval(act text, arguments jsonb, actor text, reason text, token_key_id integer, sealed_token bytea,
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

CREATE FUNCTION decide_request(id bigint, decision text, reason text) RETURNS approval_requests LANGUAGE plpgsql
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

CREATE FUNCTION reject_request(id bigint, reason text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM decide_request(id, 'REJECTED', reason);
END
$$;

-- Approves a decision about a purchase. The program records that decision in the same transaction, and the database compares.
CREATE FUNCTION approve_resolution(id bigint, reason text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
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

-- Approves a request of another kind, and carries it out. A payment has an entry.
CREATE FUNCTION approve_request(id bigint, reason text, OUT entry_id bigint, OUT entry_posted_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    request CONSTANT approval_requests := decide_request(id, 'APPROVED', reason);
    given CONSTANT jsonb := request.arguments;
    declared providers;
BEGIN
    CASE request.act
    WHEN 'TOP_UP', 'ADJUST' THEN
        IF (given ->> 'pays_out')::boolean THEN
            SELECT p.entry_id, p.entry_posted_at INTO entry_id, entry_posted_at
            FROM pay_commission((given ->> 'wallet')::bigint, (given ->> 'minor')::bigint, given ->> 'reference',
                request.requested_by, request.reason) p;
        ELSE
            SELECT p.entry_id, p.entry_posted_at INTO entry_id, entry_posted_at
            FROM post_payment((given ->> 'wallet')::bigint, request.act, given ->> 'against', (given ->> 'takes')::boolean,
                (given ->> 'minor')::bigint, given ->> 'reference', request.requested_by, request.reason) p;
        END IF;
    WHEN 'REVERSE' THEN
        SELECT p.entry_id, p.entry_posted_at INTO entry_id, entry_posted_at
        FROM reverse_payment((given ->> 'entry')::bigint, request.requested_by, request.reason) p;
    WHEN 'CHARGE' THEN
        SELECT p.entry_id, p.entry_posted_at INTO entry_id, entry_posted_at
        FROM post_payment((given ->> 'wallet')::bigint, 'ADJUST', 'SUSPENSE', true, (given ->> 'minor')::bigint, NULL,
            request.requested_by, request.reason) p;
        INSERT INTO unmatched_vend_decisions (unmatched_vend_id, entry_id, actor, reason)
        SELECT v::bigint, entry_id, session_user, request.reason FROM jsonb_array_elements_text(given -> 'vends') AS v;
        INSERT INTO audit_log (actor, action, subject, reason, details)
        SELECT request.requested_by, 'unmatched_vend.charged', 'unmatched_vend:' || v, request.reason,
            jsonb_build_object('entry', entry_id)
        FROM jsonb_array_elements_text(given -> 'vends') AS v;
    WHEN 'DECLARE' THEN
        INSERT INTO providers AS p (code, name, repeat_is_safe, remembers_refusals, not_found_counts, settles_within_s,
            worker_slots)
        SELECT given ->> 'code', coalesce(given ->> 'name', known.name), coalesce((given ->> 'repeat_is_safe')::boolean, false),
            coalesce((given ->> 'remembers_refusals')::boolean, false), coalesce((given ->> 'not_found_counts')::boolean, false),
            coalesce((given ->> 'settles_within_s')::integer, 600), coalesce((given ->> 'worker_slots')::integer, 64)
        FROM (SELECT) AS one LEFT JOIN providers known ON known.code = given ->> 'code'
        ON CONFLICT (code) DO UPDATE SET name = coalesce(given ->> 'name', p.name),
            repeat_is_safe = coalesce((given ->> 'repeat_is_safe')::boolean, p.repeat_is_safe),
            remembers_refusals = coalesce((given ->> 'remembers_refusals')::boolean, p.remembers_refusals),
            not_found_counts = coalesce((given ->> 'not_found_counts')::boolean, p.not_found_counts),
            settles_within_s = coalesce((given ->> 'settles_within_s')::integer, p.settles_within_s),
            worker_slots = coalesce((given ->> 'worker_slots')::integer, p.worker_slots)
        RETURNING p.* INTO declared;
        INSERT INTO audit_log (actor, action, subject, reason, details)
        VALUES (request.requested_by, 'provider.declared', 'provider:' || declared.code, request.reason, jsonb_build_object(
            'repeat_is_safe', declared.repeat_is_safe, 'remembers_refusals', declared.remembers_refusals,
            'not_found_counts', declared.not_found_counts, 'settles_within_s', declared.settles_within_s,
            'worker_slots', declared.worker_slots));
    WHEN 'THRESHOLD' THEN
        PERFORM set_approval_threshold(given ->> 'act', (given ->> 'above')::bigint, request.requested_by, request.reason);
    ELSE
        RAISE EXCEPTION 'request % is carried out by its program', id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'approvals_are_carried_out';
    END CASE;
    DELETE FROM approvals_under_way WHERE transaction_id = pg_current_xact_id();
END
$$;

-- An approved decision about a purchase was recorded in the transaction of its approval.
CREATE FUNCTION refuse_approvals_without_act() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
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
CREATE CONSTRAINT TRIGGER approval_decisions_are_carried_out AFTER INSERT ON approval_decisions
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.decision = 'APPROVED')
    EXECUTE FUNCTION refuse_approvals_without_act();

GRANT SELECT ON approval_thresholds, approval_decisions
    TO vendgate_operator, vendgate_support, vendgate_finance, vendgate_administrator;
GRANT SELECT ON approval_requests TO vendgate_operator, vendgate_support, vendgate_finance, vendgate_administrator;
GRANT EXECUTE ON FUNCTION act_needs_approval, request_approval, reject_request, approve_request
    TO vendgate_operator, vendgate_finance, vendgate_administrator;
GRANT EXECUTE ON FUNCTION approve_resolution, set_approval_threshold TO vendgate_operator, vendgate_administrator;
