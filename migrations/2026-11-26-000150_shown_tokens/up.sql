-- Expand. A customer who has lost the message asks on the phone for the token. Who may read it aloud has a permission of its own, in
-- addition to a role of an operator: `vendgate_token_reader`. A transaction that is rolled back takes its line of the audit log back, and
-- who ran it has seen its rows. So the database gives a token in two steps. The first writes the line and a showing. The second gives the
-- sealed token for a showing that another transaction has committed, of the same login, and for a minute.

-- Roles belong to the cluster: another database of ours may be creating it at this moment.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'vendgate_token_reader') THEN
        CREATE ROLE vendgate_token_reader NOLOGIN;
    END IF;
EXCEPTION
    WHEN duplicate_object OR unique_violation THEN NULL;
    WHEN insufficient_privilege THEN
        RAISE EXCEPTION 'the role vendgate_token_reader does not exist, and % may not create it. As a superuser, run: CREATE ROLE '
            'vendgate_token_reader NOLOGIN; then run api-server migrate again', current_user
            USING ERRCODE = 'insufficient_privilege';
END
$$;

-- No role has a right to this table. The audit log keeps who was shown what; a showing is only counted, for a day.
CREATE TABLE token_showings (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    purchase_id    bigint NOT NULL,
    login          text NOT NULL,
    at             timestamptz NOT NULL DEFAULT clock_timestamp(),
    transaction_id xid8 NOT NULL DEFAULT pg_current_xact_id()
);

-- The first step. Without `showing`, this login was shown as many within a day as the request, or at most 100, allows.
CREATE FUNCTION ask_for_token(purchase bigint, per_day integer, actor text, reason text, OUT showing bigint, OUT remaining bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    per_day_max CONSTANT integer := 100;
    organisation bigint;
    asked bigint;
BEGIN
    IF cardinality(roles_of_login()) = 0 OR NOT pg_has_role(session_user, 'vendgate_token_reader', 'MEMBER') THEN
        RAISE EXCEPTION '% reads no tokens', session_user USING ERRCODE = 'insufficient_privilege';
    END IF;
    SELECT p.organisation_id INTO organisation FROM purchases p
    WHERE p.id = purchase AND p.state = 'SUCCESSFUL' AND p.sealed_token IS NOT NULL;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'purchase % has no token', purchase
            USING ERRCODE = 'check_violation', CONSTRAINT = 'tokens_are_of_what_was_sold';
    END IF;
    -- One request of a login at a time, so that each counts those before it.
    PERFORM pg_advisory_xact_lock(hashtextextended('vendgate.token_showings.' || session_user, 0));
    DELETE FROM token_showings s WHERE s.login = session_user AND s.at < clock_timestamp() - interval '1 day';
    SELECT count(*) INTO asked FROM token_showings s WHERE s.login = session_user;
    IF asked >= least(per_day, per_day_max) THEN
        RETURN;
    END IF;
    INSERT INTO token_showings AS s (purchase_id, login) VALUES (purchase, session_user) RETURNING s.id INTO showing;
    remaining := least(per_day, per_day_max) - asked - 1;
    INSERT INTO audit_log (actor, action, organisation_id, subject, reason, details)
    VALUES (actor, 'token.shown', organisation, 'purchase:' || purchase, reason, jsonb_build_object('of_this_day', asked + 1));
END
$$;

-- The second step. It gives nothing in the transaction that wrote the showing.
CREATE FUNCTION take_token(showing bigint, OUT purchase bigint, OUT token_key_id integer, OUT sealed_token bytea)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
    SELECT p.id, p.token_key_id, p.sealed_token INTO purchase, token_key_id, sealed_token
    FROM token_showings s JOIN purchases p ON p.id = s.purchase_id
    WHERE s.id = showing AND s.login = session_user AND s.at > clock_timestamp() - interval '1 minute'
        AND s.transaction_id IS DISTINCT FROM pg_current_xact_id_if_assigned();
    IF NOT FOUND THEN
        RAISE EXCEPTION 'showing % is not committed, of another login, or older than a minute', showing
            USING ERRCODE = 'check_violation', CONSTRAINT = 'tokens_are_shown_after_their_line';
    END IF;
END
$$;
REVOKE ALL ON FUNCTION ask_for_token, take_token FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ask_for_token, take_token TO vendgate_token_reader;

-- The story of a purchase has the sizes of its replies.
CREATE FUNCTION reply_sizes(purchase bigint) RETURNS TABLE (at timestamptz, attempt smallint, sealed_bytes integer, key_id integer)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT r.at, r.attempt, octet_length(r.sealed_reply), r.key_id FROM provider_replies r WHERE r.purchase_id = purchase
$$;
REVOKE ALL ON FUNCTION reply_sizes FROM PUBLIC;
GRANT EXECUTE ON FUNCTION reply_sizes TO vendgate_operator, vendgate_support, vendgate_finance, vendgate_administrator;

-- A token reader of support needs the servers' key. So support reads no sealed bytes in another way any more. No program of a release
-- before has this role. A later migration that adds a column to one of these tables grants it to support.
DO $$
DECLARE
    sealed record;
    columns text;
BEGIN
    FOR sealed IN
        SELECT * FROM (VALUES ('purchases', 'sealed_token'), ('incidents', 'sealed_token'), ('unmatched_vends', 'sealed_token'),
            ('approval_requests', 'sealed_token'), ('provider_replies', 'sealed_reply')) AS t (its_table, its_column)
    LOOP
        SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) INTO STRICT columns FROM pg_attribute a
        WHERE a.attrelid = sealed.its_table::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attname <> sealed.its_column;
        EXECUTE format('REVOKE SELECT ON %I FROM vendgate_support', sealed.its_table);
        EXECUTE format('GRANT SELECT (%s) ON %I TO vendgate_support', columns, sealed.its_table);
    END LOOP;
END
$$;
