-- Expand. Operators have roles: support reads, finance moves money and reconciles, the administrator does the rest. A login may have
-- several. `vendgate_operator` is all three in one, as before. The actor of an act is the login, and no program can choose it.

-- Roles belong to the cluster: another database of ours may be creating them at this moment.
DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['vendgate_support', 'vendgate_finance', 'vendgate_administrator'] LOOP
        CONTINUE WHEN EXISTS (SELECT FROM pg_roles WHERE rolname = wanted);
        BEGIN
            EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
        EXCEPTION
            WHEN duplicate_object OR unique_violation THEN NULL;
            WHEN insufficient_privilege THEN
                RAISE EXCEPTION 'the role % does not exist, and % may not create it. As a superuser, run: CREATE ROLE '
                    'vendgate_support NOLOGIN; CREATE ROLE vendgate_finance NOLOGIN; CREATE ROLE vendgate_administrator NOLOGIN; '
                    'then run api-server migrate again', wanted, current_user
                    USING ERRCODE = 'insufficient_privilege';
        END;
    END LOOP;
END
$$;

-- Whether the login of this session has this role: `support`, `finance` or `administrator`.
CREATE FUNCTION login_has_role(role text) RETURNS boolean LANGUAGE sql STABLE
SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT pg_has_role(session_user, 'vendgate_operator', 'MEMBER') OR pg_has_role(session_user, 'vendgate_' || role, 'MEMBER')
$$;

-- The roles of the login of this session.
CREATE FUNCTION roles_of_login() RETURNS text[] LANGUAGE sql STABLE
SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT ARRAY (SELECT r FROM unnest(ARRAY['support', 'finance', 'administrator']) AS r WHERE login_has_role(r))
$$;
GRANT EXECUTE ON FUNCTION login_has_role, roles_of_login
    TO vendgate_operator, vendgate_support, vendgate_finance, vendgate_administrator;

-- The actor of a line is the login, if it is an operator's. Another name that the program gave is only a note in the details.
-- Triggers run in the order of their names, so this is done before the line is hashed.
CREATE FUNCTION name_the_operator() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF cardinality(roles_of_login()) = 0 THEN
        RETURN NEW;
    END IF;
    IF NEW.actor <> session_user AND NEW.actor <> '' THEN
        NEW.details := NEW.details || jsonb_build_object('on_behalf_of', NEW.actor);
    END IF;
    NEW.actor := session_user;
    RETURN NEW;
END
$$;
CREATE TRIGGER audit_log_has_the_login_as_actor BEFORE INSERT ON audit_log
    FOR EACH ROW EXECUTE FUNCTION name_the_operator();

-- The same where a decision has its actor.
CREATE FUNCTION name_the_decider() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    NEW.actor := session_user;
    RETURN NEW;
END
$$;
CREATE TRIGGER incident_decisions_have_the_login_as_actor BEFORE INSERT ON incident_decisions
    FOR EACH ROW EXECUTE FUNCTION name_the_decider();
CREATE TRIGGER unmatched_vend_decisions_have_the_login_as_actor BEFORE INSERT ON unmatched_vend_decisions
    FOR EACH ROW EXECUTE FUNCTION name_the_decider();
CREATE TRIGGER reconciliations_have_the_login_as_actor BEFORE INSERT ON reconciliations
    FOR EACH ROW EXECUTE FUNCTION name_the_decider();
CREATE TRIGGER discrepancy_decisions_have_the_login_as_actor BEFORE INSERT ON discrepancy_decisions
    FOR EACH ROW EXECUTE FUNCTION name_the_decider();

-- Every role reads what vendctl shows: neither hashes of passwords and secrets, nor sessions, nor keys.
GRANT USAGE ON SCHEMA public TO vendgate_support, vendgate_finance, vendgate_administrator;
GRANT SELECT ON __diesel_schema_migrations, served_programs, feed_numbering, connected_programs, organisations, oauth_clients, accounts,
    allowed_subscribers, default_providers, offers, removed_offers, product_texts, products, provider_pauses, providers, purchases,
    attempts, purchase_events, purchase_history, provider_replies, journal_entries, postings, reversals, incidents,
    incident_decisions, outbox, repeated_messages, refused_confirms, archives, audit_head, audit_log, unmatched_vends,
    unmatched_vend_decisions, reconciliations, reconciliation_findings, reconciliation_sightings, discrepancies,
    discrepancy_decisions, cutoffs, payouts, trial_balances, trial_balance_lines, webhook_progress, webhook_attempts
    TO vendgate_support, vendgate_finance, vendgate_administrator;
GRANT SELECT (id, organisation_id, username, full_name, phone_number, email, role, status, created_at) ON users
    TO vendgate_support, vendgate_finance, vendgate_administrator;
GRANT SELECT (id, oauth_client_id, created_at, expires_at, revoked_at) ON client_secrets
    TO vendgate_support, vendgate_finance, vendgate_administrator;
GRANT SELECT (id, organisation_id, url, description, status, status_since, switched_off_because) ON webhook_endpoints
    TO vendgate_support, vendgate_finance, vendgate_administrator;
GRANT EXECUTE ON FUNCTION number_feed_here TO vendgate_support, vendgate_finance, vendgate_administrator;

GRANT INSERT (actor, action, organisation_id, subject, reason, details) ON audit_log TO vendgate_finance, vendgate_administrator;
-- Only who may change something of a row may lock it. The number of an account never changes.
GRANT UPDATE (id) ON accounts TO vendgate_finance, vendgate_administrator;

GRANT EXECUTE ON FUNCTION post_payment, reverse_payment, post_payout, reverse_payout, pay_commission, system_balance TO vendgate_finance;
-- A report ends at cut-offs and trial balances, which are made when they are asked for.
GRANT EXECUTE ON FUNCTION cut_off, strike_trial_balance, moves_of_wallets, moves_beside_wallets TO vendgate_finance;
GRANT INSERT ON incident_decisions, reconciliation_findings TO vendgate_finance;
GRANT INSERT (provider_code, file_name, file_sha256, covers_from, covers_until, tolerance_s, actor, reason),
    UPDATE (lines, matched, still_open, only_theirs, different, only_ours) ON reconciliations TO vendgate_finance;
GRANT INSERT (kind, provider_code, provider_reference, provider_transaction, differs, purchase_id, is_by_person, vended_at, product,
    meter, currency, net) ON discrepancies TO vendgate_finance;
GRANT INSERT (discrepancy_id, actor, reason) ON discrepancy_decisions TO vendgate_finance;
GRANT INSERT, DELETE ON reconciliation_sightings TO vendgate_finance;
GRANT USAGE ON SEQUENCE unmatched_vend_ids TO vendgate_finance;
GRANT INSERT (id, provider_code, provider_reference, provider_transaction, vended_at, product, subscriber_identifier, currency,
    net, token_key_id, sealed_token) ON unmatched_vends TO vendgate_finance;
GRANT INSERT (unmatched_vend_id, entry_id, actor, reason) ON unmatched_vend_decisions TO vendgate_finance;

GRANT INSERT ON organisations, oauth_clients, client_secrets, users, accounts, providers, products, offers, product_texts,
    default_providers, allowed_subscribers TO vendgate_administrator;
GRANT UPDATE (id, name, status, receipt_footer) ON organisations TO vendgate_administrator;
GRANT UPDATE (id, name, status) ON oauth_clients TO vendgate_administrator;
GRANT UPDATE (id, expires_at, revoked_at) ON client_secrets TO vendgate_administrator;
GRANT UPDATE (id, password_hash, full_name, phone_number, email, role, status) ON users TO vendgate_administrator;
-- A secret or a password that is replaced ends its sessions.
GRANT SELECT (id, organisation_id, oauth_client_id, user_id, client_secret_id, revoked_at),
    UPDATE (revoked_at, revoked_because) ON token_families TO vendgate_administrator;
GRANT UPDATE (name, status, handling, retries_enabled, rank, low_balance) ON accounts TO vendgate_administrator;
GRANT UPDATE ON providers, products, offers, product_texts, default_providers TO vendgate_administrator;
GRANT DELETE ON offers, product_texts, default_providers, allowed_subscribers, provider_pauses TO vendgate_administrator;
GRANT INSERT (provider_code, product, starts_at, ends_at, notice) ON provider_pauses TO vendgate_administrator;
-- What `privacy` and `archive` do.
GRANT SELECT ON certificates, closed_references, batch_lines TO vendgate_administrator;
GRANT EXECUTE ON FUNCTION pseudonym, erase_person, archived_history, remove_archived TO vendgate_administrator;
-- A decision about a purchase is recorded as the servers record an event.
GRANT INSERT ON purchase_events, outbox TO vendgate_administrator;
GRANT EXECUTE ON FUNCTION refuse_partial_change TO vendgate_administrator;
DO $$
DECLARE
    columns text;
BEGIN
    SELECT string_agg(quote_ident(column_name), ', ') INTO STRICT columns FROM information_schema.column_privileges
    WHERE table_schema = 'public' AND table_name = 'purchases' AND grantee = 'vendgate_api' AND privilege_type = 'UPDATE';
    EXECUTE format('GRANT UPDATE (%s) ON purchases TO vendgate_administrator', columns);
END
$$;
