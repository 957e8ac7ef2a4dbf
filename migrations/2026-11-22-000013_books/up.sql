-- Money moves by what the database derives, and by nothing that a caller may say. Until now the password of the servers'
-- role was enough to post a payment and raise a balance, and the books still added up. From here on:
--   * a wallet's balance changes only by a posting, and what is held only by a purchase that begins or ends;
--   * the entries of a purchase are derived from its row, in the statement that ends it;
--   * what comes from outside, a payment or a correction, is posted by one function that only the operator's role may call;
--   * the audit log names the database login, which nobody can choose, and each line carries the hash of the one before it.
-- Triggers below compute with the rights of the owner of the schema, so the roles that serve need no right to do so
-- themselves. Their search path is fixed: no table that a caller makes, temporary or not, can take the place of ours.

-- A balance follows what is posted, whoever posts it. Accounts of the house store none.
CREATE FUNCTION move_balances() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    UPDATE accounts a SET posted = a.posted + w.amount
    FROM (
        SELECT s.account_id, sum(s.amount)::bigint AS amount
        FROM (
            SELECT credit_account_id AS account_id, amount FROM moves
            UNION ALL
            SELECT debit_account_id, -amount FROM moves
        ) AS s
        GROUP BY s.account_id
    ) AS w
    WHERE a.id = w.account_id AND a.house IS NULL;
    RETURN NULL;
END
$$;

CREATE TRIGGER postings_move_balances AFTER INSERT ON postings
    REFERENCING NEW TABLE AS moves FOR EACH STATEMENT EXECUTE FUNCTION move_balances();

-- A purchase priced under the old rate may be reserved a little after the rate was lowered: servers keep offers in memory
-- for seconds.
ALTER TABLE offers
    ADD COLUMN former_commission_rate numeric(9, 6) NOT NULL DEFAULT 0,
    ADD COLUMN commission_rate_since timestamptz NOT NULL DEFAULT now();

CREATE FUNCTION keep_former_commission_rate() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.commission_rate = OLD.commission_rate THEN
        NEW.former_commission_rate := OLD.former_commission_rate;
        NEW.commission_rate_since := OLD.commission_rate_since;
    ELSE
        -- The greatest of the last minute, if it was lowered more than once.
        NEW.former_commission_rate := greatest(OLD.commission_rate,
            CASE WHEN OLD.commission_rate_since > now() - interval '1 minute' THEN OLD.former_commission_rate END);
        NEW.commission_rate_since := now();
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER offers_keep_former_commission_rate BEFORE UPDATE ON offers
    FOR EACH ROW EXECUTE FUNCTION keep_former_commission_rate();

-- A purchase begins as the reserve leaves it: in flight, out of a wallet of its own organisation, with no more commission
-- than its offer grants, into the organisation's own commission account. Then its total is held.
CREATE FUNCTION hold_for_purchases() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    refused bigint;
BEGIN
    SELECT p.id INTO refused
    FROM reserved p
    LEFT JOIN accounts w ON w.id = p.account_id
    LEFT JOIN accounts c ON c.id = p.commission_account_id
    LEFT JOIN offers o ON o.organisation_id = p.organisation_id AND o.product = p.product
        AND o.provider_code = p.provider_code AND o.currency = p.currency
    WHERE (
        p.state = 'IN_FLIGHT'
        AND w.organisation_id = p.organisation_id AND w.currency = p.currency
        AND w.status = 'ACTIVE' AND w.category IN ('CURRENT', 'TOPUP')
        AND (p.commission_account_id IS NULL
            OR c.organisation_id = p.organisation_id AND c.currency = p.currency AND c.category = 'COMMISSION')
        AND p.commission <= round(p.net * coalesce(greatest(o.commission_rate,
            CASE WHEN o.commission_rate_since > now() - interval '1 minute' THEN o.former_commission_rate END), 0))
    ) IS NOT TRUE
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'purchase % is not as a reserve leaves it', refused
            USING ERRCODE = 'check_violation', CONSTRAINT = 'purchases_begin_as_reserved';
    END IF;

    UPDATE accounts a SET held = a.held + h.total
    FROM (SELECT account_id, sum(total)::bigint AS total FROM reserved GROUP BY account_id) AS h
    WHERE a.id = h.account_id;
    RETURN NULL;
END
$$;

CREATE TRIGGER purchases_hold_their_total AFTER INSERT ON purchases
    REFERENCING NEW TABLE AS reserved FOR EACH STATEMENT EXECUTE FUNCTION hold_for_purchases();

-- A purchase that ends gives its hold back; one that succeeded is paid for out of it. Whoever has ended is never updated
-- again (purchases_end_once), so what is over here has just ended. crates/ledger states the same moves; a test compares.
CREATE FUNCTION settle_purchases() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM changed WHERE ended_at IS NOT NULL) THEN
        RETURN NULL;
    END IF;

    UPDATE accounts a SET held = a.held - h.total
    FROM (
        SELECT account_id, sum(total)::bigint AS total FROM changed WHERE ended_at IS NOT NULL GROUP BY account_id
    ) AS h
    WHERE a.id = h.account_id;

    WITH entry AS MATERIALIZED (
        SELECT nextval('journal_entry_ids') AS entry_id, p.id, p.account_id, p.commission_account_id, p.currency, p.net,
            p.charge, p.commission
        FROM changed p WHERE p.state = 'SUCCESSFUL'
    ), written AS (
        INSERT INTO journal_entries (id, kind, purchase_id, posted_at)
        SELECT entry_id, 'SETTLE', id, clock_timestamp() FROM entry
    )
    INSERT INTO postings (entry_id, debit_account_id, credit_account_id, currency, amount)
    SELECT e.entry_id, m.debit, m.credit, e.currency, m.amount
    FROM entry e
    LEFT JOIN accounts payable ON payable.house = 'PROVIDER_PAYABLE' AND payable.currency = e.currency
    LEFT JOIN accounts income ON income.house = 'FEE_INCOME' AND income.currency = e.currency
    LEFT JOIN accounts expense ON expense.house = 'COMMISSION_EXPENSE' AND expense.currency = e.currency
    CROSS JOIN LATERAL (VALUES
        (e.account_id, payable.id, e.net),
        (e.account_id, income.id, e.charge),
        (expense.id, e.commission_account_id, e.commission)
    ) AS m (debit, credit, amount)
    WHERE m.amount > 0;
    RETURN NULL;
END
$$;

CREATE TRIGGER purchases_settle AFTER UPDATE ON purchases
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION settle_purchases();

-- A vend that comes to light after the end is owed to the provider, out of suspense: never out of a wallet.
CREATE FUNCTION post_incidents() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    refused bigint;
BEGIN
    SELECT i.purchase_id INTO refused
    FROM opened i LEFT JOIN purchases p ON p.id = i.purchase_id
    WHERE (
        i.kind = CASE p.state WHEN 'FAILED' THEN 'LATE_VEND' WHEN 'SUCCESSFUL' THEN 'SECOND_VEND' END
        AND i.provider_transaction IS DISTINCT FROM p.provider_transaction
    ) IS NOT TRUE
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'purchase % has no place for that incident', refused
            USING ERRCODE = 'check_violation', CONSTRAINT = 'incidents_follow_an_end';
    END IF;

    WITH entry AS MATERIALIZED (
        SELECT nextval('journal_entry_ids') AS entry_id, p.id, p.currency, p.net
        FROM opened i JOIN purchases p ON p.id = i.purchase_id
    ), written AS (
        INSERT INTO journal_entries (id, kind, purchase_id, posted_at)
        SELECT entry_id, 'INCIDENT', id, clock_timestamp() FROM entry
    )
    INSERT INTO postings (entry_id, debit_account_id, credit_account_id, currency, amount)
    SELECT e.entry_id, suspense.id, payable.id, e.currency, e.net
    FROM entry e
    LEFT JOIN accounts suspense ON suspense.house = 'SUSPENSE' AND suspense.currency = e.currency
    LEFT JOIN accounts payable ON payable.house = 'PROVIDER_PAYABLE' AND payable.currency = e.currency;
    RETURN NULL;
END
$$;

CREATE TRIGGER incidents_are_posted AFTER INSERT ON incidents
    REFERENCING NEW TABLE AS opened FOR EACH STATEMENT EXECUTE FUNCTION post_incidents();

-- A wallet begins empty: what is in it came by an entry.
CREATE FUNCTION refuse_a_full_wallet() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'a wallet begins empty'
        USING ERRCODE = 'check_violation', CONSTRAINT = 'accounts_begin_empty';
END
$$;

CREATE TRIGGER accounts_begin_empty BEFORE INSERT ON accounts
    FOR EACH ROW WHEN (NEW.posted <> 0 OR NEW.held <> 0) EXECUTE FUNCTION refuse_a_full_wallet();

-- Only who may change something of a row may lock it. The servers lock wallets and change nothing of them: they get the
-- right to change the one thing that nobody may.
CREATE TRIGGER accounts_keep_their_numbers BEFORE UPDATE OF id ON accounts
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_renumber();

-- The audit log: which login wrote each line, and the hash of the line before it. Lines written before this have no login.
ALTER TABLE audit_log
    ADD COLUMN login text,
    ADD COLUMN previous_hash bytea,
    ADD COLUMN hash bytea;

-- What is hashed: each field as text behind its length in bytes, so that no two lines have the same bytes. `vendctl` hashes
-- the same by itself.
CREATE FUNCTION audit_hash(l audit_log) RETURNS bytea LANGUAGE sql STABLE
SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT sha256(convert_to(
        string_agg(coalesce(octet_length(convert_to(f, 'UTF8')) || ':' || f, '-'), ',' ORDER BY n), 'UTF8'))
    FROM unnest(ARRAY [
        l.id::text, (extract(epoch FROM l.at) * 1000000)::bigint::text, l.login, l.actor, l.action,
        l.organisation_id::text, l.subject, l.reason, l.details::text, encode(l.previous_hash, 'hex')
    ]) WITH ORDINALITY AS u (f, n)
$$;

-- The newest line. Whoever adds one locks it until he commits, so the lines stand in one order. Few write to the log, and
-- nobody who sells: people at vendctl, and whoever presents a refresh token twice.
CREATE TABLE audit_head (
    is_there boolean PRIMARY KEY DEFAULT true CHECK (is_there),
    id       bigint NOT NULL,
    hash     bytea
);

DO $$
DECLARE
    l audit_log;
    last audit_log;
BEGIN
    ALTER TABLE audit_log DISABLE TRIGGER audit_log_is_append_only;
    FOR l IN SELECT * FROM audit_log ORDER BY id LOOP
        l.previous_hash := last.hash;
        l.hash := audit_hash(l);
        UPDATE audit_log SET previous_hash = l.previous_hash, hash = l.hash WHERE id = l.id;
        last := l;
    END LOOP;
    ALTER TABLE audit_log ENABLE TRIGGER audit_log_is_append_only;
    INSERT INTO audit_head (id, hash) VALUES (coalesce(last.id, 0), last.hash);
END
$$;

ALTER TABLE audit_log ALTER COLUMN hash SET NOT NULL;

CREATE FUNCTION chain_audit_line() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    head audit_head;
BEGIN
    SELECT * INTO STRICT head FROM audit_head FOR UPDATE;
    NEW.id := head.id + 1;
    NEW.at := clock_timestamp();
    NEW.login := session_user;
    NEW.previous_hash := head.hash;
    NEW.hash := audit_hash(NEW);
    UPDATE audit_head SET id = NEW.id, hash = NEW.hash;
    RETURN NEW;
END
$$;

CREATE TRIGGER audit_log_is_chained BEFORE INSERT ON audit_log
    FOR EACH ROW EXECUTE FUNCTION chain_audit_line();

-- The servers write nothing into the audit log. The one thing of theirs that it tells is told by the database.
CREATE FUNCTION log_a_reused_refresh_token() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    INSERT INTO audit_log (actor, action, organisation_id, subject, reason, details)
    SELECT 'identity', 'token_family.revoked', NEW.organisation_id, 'token_family:' || NEW.id,
        'a refresh token was presented again after it had been exchanged',
        jsonb_build_object('client_id', c.client_id, 'user', NEW.user_id)
    FROM oauth_clients c WHERE c.id = NEW.oauth_client_id;
    RETURN NULL;
END
$$;

CREATE TRIGGER token_families_tell_of_reuse AFTER UPDATE OF revoked_because ON token_families
    FOR EACH ROW WHEN (NEW.revoked_because = 'REFRESH_TOKEN_REUSED' AND OLD.revoked_because IS NULL)
    EXECUTE FUNCTION log_a_reused_refresh_token();

-- Each payment names its line in the audit log.
ALTER TABLE journal_entries ADD COLUMN audit_id bigint;

DO $$
BEGIN
    ALTER TABLE journal_entries DISABLE TRIGGER journal_entries_are_append_only;
    UPDATE journal_entries e SET audit_id = l.id
    FROM audit_log l
    WHERE e.kind IN ('TOP_UP', 'ADJUST') AND l.action IN ('account.topped_up', 'account.adjusted')
        AND l.details ->> 'entry' = e.id::text;
    ALTER TABLE journal_entries ENABLE TRIGGER journal_entries_are_append_only;
END
$$;

-- Not tried on what is there: a payment without a line is for the standing checks to report.
ALTER TABLE journal_entries ADD CONSTRAINT journal_entries_payments_are_audited
    CHECK ((kind IN ('TOP_UP', 'ADJUST')) = (audit_id IS NOT NULL)) NOT VALID;
CREATE UNIQUE INDEX journal_entries_one_per_audit_line ON journal_entries (audit_id) WHERE audit_id IS NOT NULL;

-- A payment into a wallet, or a correction either way, with its line in the audit log: the only way in which money comes
-- from outside. The caller has looked at whether it may be; this refuses what may never be.
CREATE FUNCTION post_payment(wallet bigint, kind text, against text, takes boolean, minor bigint, reference text, actor text,
    reason text, OUT entry_id bigint, OUT entry_posted_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    account accounts;
    house_id bigint;
    line bigint;
BEGIN
    SELECT a.* INTO account FROM accounts a WHERE a.id = wallet AND a.house IS NULL FOR NO KEY UPDATE;
    SELECT h.id INTO house_id FROM accounts h WHERE h.house = against AND h.currency = account.currency;
    IF (
        account.status = 'ACTIVE' AND kind = 'TOP_UP' AND NOT takes AND against = 'FUNDING'
        OR account.status IN ('ACTIVE', 'SUSPENDED') AND kind = 'ADJUST' AND against IN ('FUNDING', 'SUSPENSE')
    ) IS NOT TRUE THEN
        RAISE EXCEPTION 'account % takes no such payment', wallet
            USING ERRCODE = 'check_violation', CONSTRAINT = 'payments_are_of_known_kinds';
    END IF;

    entry_id := nextval('journal_entry_ids');
    entry_posted_at := clock_timestamp();
    INSERT INTO audit_log (actor, action, organisation_id, subject, reason, details)
    VALUES (actor, CASE kind WHEN 'TOP_UP' THEN 'account.topped_up' ELSE 'account.adjusted' END, account.organisation_id,
        'account:' || wallet, reason, jsonb_build_object('amount', format('%s %s%s.%s', account.currency,
            CASE WHEN takes THEN '-' ELSE '' END, minor / 100, lpad((minor % 100)::text, 2, '0')),
            'against', against, 'entry', entry_id, 'reference', reference))
    RETURNING id INTO line;
    INSERT INTO journal_entries (id, kind, reason, reference, posted_at, audit_id)
    VALUES (entry_id, kind, reason, reference, entry_posted_at, line);
    INSERT INTO postings (entry_id, debit_account_id, credit_account_id, currency, amount)
    VALUES (entry_id, CASE WHEN takes THEN wallet ELSE house_id END, CASE WHEN takes THEN house_id ELSE wallet END,
        account.currency, minor);
END
$$;

-- Nobody may call a function of ours unless told so here. Triggers need no such right.
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA public FROM PUBLIC;
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
GRANT EXECUTE ON FUNCTION post_payment TO vendgate_operator;

-- The guards that were there before look up tables too.
DO $$
DECLARE
    unfixed regprocedure;
BEGIN
    FOR unfixed IN
        SELECT oid FROM pg_proc
        WHERE pronamespace = 'public'::regnamespace AND proowner = current_user::regrole AND proconfig IS NULL
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = pg_catalog, public, pg_temp', unfixed);
    END LOOP;
END
$$;

REVOKE INSERT ON journal_entries, postings FROM vendgate_api;
REVOKE USAGE ON SEQUENCE journal_entry_ids FROM vendgate_api;
REVOKE UPDATE (posted, held) ON accounts FROM vendgate_api;
GRANT UPDATE (id) ON accounts TO vendgate_api;
REVOKE INSERT ON audit_log FROM vendgate_api;
GRANT INSERT (actor, action, organisation_id, subject, reason, details) ON audit_log TO vendgate_operator;
GRANT SELECT ON audit_head TO vendgate_api;

-- What the worker needs, given to itself: so that an installation may take the servers' role from it, and with that the
-- right to reserve, to open sessions, and to read what people log in with.
GRANT USAGE ON SCHEMA public TO vendgate_worker;
GRANT SELECT ON __diesel_schema_migrations, accounts, providers, product_texts, purchases, attempts, purchase_events,
    provider_replies, journal_entries, postings, incidents, incident_decisions, outbox, closed_references,
    closed_keys, provider_call_counters, oauth_clients, token_families, access_tokens, refresh_tokens, audit_log, audit_head
    TO vendgate_worker;
GRANT SELECT (id, phone_number, email) ON users TO vendgate_worker;
GRANT INSERT ON attempts, purchase_events, provider_replies, incidents, outbox TO vendgate_worker;
GRANT INSERT, UPDATE ON provider_call_counters TO vendgate_worker;
GRANT UPDATE (id) ON accounts TO vendgate_worker;
GRANT DELETE ON closed_keys TO vendgate_worker;
DO $$
DECLARE
    columns text;
BEGIN
    SELECT string_agg(quote_ident(column_name), ', ') INTO STRICT columns FROM information_schema.column_privileges
    WHERE table_schema = 'public' AND table_name = 'purchases' AND grantee = 'vendgate_api' AND privilege_type = 'UPDATE';
    EXECUTE format('GRANT UPDATE (%s) ON purchases TO vendgate_worker', columns);
END
$$;
