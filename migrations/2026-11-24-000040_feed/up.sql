-- Expand. The feed: what happened to an organisation's things, for integrators. An event is written by the transaction that made it
-- true.
--
-- The order of the feed is that of the transactions, by their ids, because that order can be read without a gap: no transaction
-- below the oldest one that is still open can add an event any more (pg_snapshot_xmin). So only events below it are read, and
-- nothing that was read is ever preceded by something new. A number that every writer takes would not do: it is taken before
-- the commit, and commits come in another order.
--
-- Ids of transactions belong to one cluster and its timeline. After a restore, a failover or a dump they may be given out a second
-- time. So a base is added to them, and it grows with every change of the cluster or its timeline.

CREATE TABLE feed_numbering (
    only_row    boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    -- The cluster and timeline to whose transaction ids `base` is added.
    numbered_by text NOT NULL,
    base        bigint NOT NULL,
    -- Purchases that ended before have no events.
    began_at    timestamptz NOT NULL
);
-- Without foreign keys, like the tables of purchases: each sale writes two rows of it.
CREATE TABLE feed_events (
    organisation_id bigint NOT NULL,
    -- The transaction that wrote it: the base and the transaction's id. With `id` it is the event's position.
    transaction_no  bigint NOT NULL,
    id              bigint GENERATED ALWAYS AS IDENTITY,
    -- An open list: a program shows a kind that it does not know as it is here.
    kind            text NOT NULL,
    at              timestamptz NOT NULL,
    -- What is shown of a purchase is read from its row.
    purchase_id     bigint,
    -- What is shown of anything else. Never a token, a secret or a phone number.
    details         jsonb,
    PRIMARY KEY (organisation_id, transaction_no, id),
    CHECK ((purchase_id IS NULL) <> (details IS NULL))
);
-- A purchase ends once.
CREATE UNIQUE INDEX feed_events_one_end ON feed_events (purchase_id) WHERE kind IN ('purchase.succeeded', 'purchase.failed');

CREATE TRIGGER feed_events_are_append_only BEFORE UPDATE OR TRUNCATE ON feed_events
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();

-- Up to which position the events of an organisation were deleted: a reader that is behind it has missed some.
CREATE TABLE feed_deletions (
    organisation_id bigint PRIMARY KEY REFERENCES organisations,
    transaction_no  bigint NOT NULL,
    id              bigint NOT NULL,
    -- The latest time of the deleted events.
    at              timestamptz NOT NULL
);

-- Called by each session of a program before anything else. After a restore, a failover or a dump, the base is raised. A transaction
-- reads the base before it writes an event and holds the table's lock until its end, so none is under way with the old one.
CREATE FUNCTION number_feed_here() RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    here CONSTANT text := cluster_and_timeline();
    newest bigint;
BEGIN
    IF NOT EXISTS (SELECT FROM feed_numbering WHERE numbered_by <> here) THEN
        RETURN;
    END IF;
    LOCK TABLE feed_numbering IN ACCESS EXCLUSIVE MODE;
    SELECT max(last.transaction_no) INTO newest
    FROM organisations o CROSS JOIN LATERAL (
        SELECT e.transaction_no FROM feed_events e WHERE e.organisation_id = o.id
        ORDER BY e.transaction_no DESC, e.id DESC LIMIT 1
    ) AS last;
    UPDATE feed_numbering SET
        numbered_by = here,
        base = greatest((extract(epoch FROM clock_timestamp()) * 1000000)::bigint, newest + 1)
            - pg_current_xact_id()::text::bigint
    WHERE numbered_by <> here;
END
$$;

-- Writes an event of anything but a purchase.
CREATE FUNCTION tell_feed(organisation bigint, kind text, at timestamptz, details jsonb) RETURNS void LANGUAGE sql
SET search_path = pg_catalog, public, pg_temp AS $$
    INSERT INTO feed_events (organisation_id, transaction_no, kind, at, details)
    SELECT organisation, n.base + pg_current_xact_id()::text::bigint, kind, at, jsonb_strip_nulls(details) FROM feed_numbering n
$$;

CREATE FUNCTION money_text(currency text, minor bigint) RETURNS text LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT format('%s %s%s.%s', currency, CASE WHEN minor < 0 THEN '-' ELSE '' END, abs(minor) / 100,
        lpad((abs(minor) % 100)::text, 2, '0'))
$$;

-- As migration 13 has it, and the feed is told.
CREATE OR REPLACE FUNCTION hold_for_purchases() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
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

    INSERT INTO feed_events (organisation_id, transaction_no, kind, at, purchase_id)
    SELECT p.organisation_id, n.base + pg_current_xact_id()::text::bigint, 'purchase.accepted', p.created_at, p.id
    FROM reserved p CROSS JOIN feed_numbering n;
    RETURN NULL;
END
$$;

-- As migration 32 has it, and the feed is told.
CREATE OR REPLACE FUNCTION settle_purchases() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM changed
        WHERE ended_at IS NOT NULL AND num_nonnulls(personal_data_erased_at, sealed_values_erased_at, archive_id) = 0
    ) THEN
        RETURN NULL;
    END IF;

    UPDATE accounts a SET held = a.held - h.total
    FROM (
        SELECT account_id, sum(total)::bigint AS total FROM changed
        WHERE ended_at IS NOT NULL AND num_nonnulls(personal_data_erased_at, sealed_values_erased_at, archive_id) = 0
        GROUP BY account_id
    ) AS h
    WHERE a.id = h.account_id;

    WITH entry AS MATERIALIZED (
        SELECT nextval('journal_entry_ids') AS entry_id, p.id, p.account_id, p.commission_account_id, p.currency, p.net,
            p.charge, p.commission
        FROM changed p
        WHERE p.state = 'SUCCESSFUL' AND num_nonnulls(p.personal_data_erased_at, p.sealed_values_erased_at, p.archive_id) = 0
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

    INSERT INTO feed_events (organisation_id, transaction_no, kind, at, purchase_id)
    SELECT p.organisation_id, n.base + pg_current_xact_id()::text::bigint,
        CASE p.state WHEN 'SUCCESSFUL' THEN 'purchase.succeeded' ELSE 'purchase.failed' END, p.ended_at, p.id
    FROM changed p CROSS JOIN feed_numbering n
    WHERE p.ended_at IS NOT NULL AND num_nonnulls(p.personal_data_erased_at, p.sealed_values_erased_at, p.archive_id) = 0;
    RETURN NULL;
END
$$;

-- As migration 13 has it, and the feed is told.
CREATE OR REPLACE FUNCTION post_payment(wallet bigint, kind text, against text, takes boolean, minor bigint, reference text, actor text,
    reason text, OUT entry_id bigint, OUT entry_posted_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    account accounts;
    house_id bigint;
    line bigint;
    signed CONSTANT bigint := CASE WHEN takes THEN -minor ELSE minor END;
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
    PERFORM tell_feed(account.organisation_id, CASE kind WHEN 'TOP_UP' THEN 'wallet.topped_up' ELSE 'wallet.adjusted' END,
        entry_posted_at, jsonb_build_object(
            'account', jsonb_build_object('id', wallet, 'name', account.name),
            'entry', entry_id,
            'reference', reference,
            'amount', money_text(account.currency, signed),
            'amount_minor', signed,
            'balance', money_text(account.currency, account.posted + signed),
            'balance_minor', account.posted + signed));
END
$$;

-- The wallets come before the purchases here, as in every sale, so that no sale and this migration wait for each other.
--
-- A wallet is low when its balance falls below the amount that the operator has set for it. What is held still counts, because a
-- hold may be released: a wallet is not low again for each purchase that fails.
ALTER TABLE accounts
    ADD COLUMN low_balance bigint CHECK (low_balance > 0);
GRANT UPDATE (low_balance) ON accounts TO vendgate_operator;

CREATE FUNCTION tell_feed_of_low_wallet() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM tell_feed(NEW.organisation_id, 'wallet.low', clock_timestamp(), jsonb_build_object(
        'account', jsonb_build_object('id', NEW.id, 'name', NEW.name),
        'balance', money_text(NEW.currency, NEW.posted),
        'balance_minor', NEW.posted,
        'low_balance', money_text(NEW.currency, NEW.low_balance),
        'low_balance_minor', NEW.low_balance));
    RETURN NULL;
END
$$;

CREATE TRIGGER accounts_tell_feed_when_low AFTER UPDATE OF posted ON accounts
    FOR EACH ROW WHEN (OLD.posted >= NEW.low_balance AND NEW.posted < NEW.low_balance)
    EXECUTE FUNCTION tell_feed_of_low_wallet();

-- Doubt is rare, so these events have a trigger of their own. A purchase is reported pending once: when the outcome of its first
-- order is not known, or a further order is due.
CREATE FUNCTION tell_feed_of_doubt() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    INSERT INTO feed_events (organisation_id, transaction_no, kind, at, purchase_id)
    SELECT NEW.organisation_id, n.base + pg_current_xact_id()::text::bigint,
        CASE NEW.state WHEN 'REVIEW' THEN 'purchase.in_review' ELSE 'purchase.pending' END, clock_timestamp(), NEW.id
    FROM feed_numbering n;
    RETURN NULL;
END
$$;

CREATE TRIGGER purchases_tell_feed_of_doubt AFTER UPDATE OF state ON purchases
    FOR EACH ROW WHEN (
        OLD.state = 'IN_FLIGHT' AND OLD.requests = 0 AND NEW.state IN ('IN_DOUBT', 'RETRY_DUE')
        OR OLD.state <> 'REVIEW' AND NEW.state = 'REVIEW'
    )
    EXECUTE FUNCTION tell_feed_of_doubt();

-- For which end of a secret an event was written: a secret whose end is moved is reported again.
ALTER TABLE client_secrets ADD COLUMN expiry_told timestamptz;

-- Reports the secrets that end within so many days. Returns how many.
CREATE FUNCTION tell_feed_of_expiring_secrets(days integer) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    secret record;
    told bigint := 0;
BEGIN
    FOR secret IN
        UPDATE client_secrets s SET expiry_told = s.expires_at
        FROM oauth_clients c
        WHERE c.id = s.oauth_client_id AND s.revoked_at IS NULL AND s.expiry_told IS DISTINCT FROM s.expires_at
            AND s.expires_at > now() AND s.expires_at < now() + make_interval(days => days)
        RETURNING c.organisation_id, c.client_id, c.name, s.created_at, s.expires_at
    LOOP
        PERFORM tell_feed(secret.organisation_id, 'client.secret_expiring', clock_timestamp(), jsonb_build_object(
            'client', jsonb_build_object('client_id', secret.client_id, 'name', secret.name),
            'secret', jsonb_build_object(
                'created_at', to_char(secret.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                'expires_at', to_char(secret.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))));
        told := told + 1;
    END LOOP;
    RETURN told;
END
$$;

-- Deletes the events of one organisation that are older than so many days, in their order, at most `batch`. Returns how many.
CREATE FUNCTION delete_old_events(organisation bigint, days integer, batch integer) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    reached record;
    deleted bigint;
BEGIN
    IF (days >= 7 AND batch BETWEEN 1 AND 10000) IS NOT TRUE THEN
        RAISE EXCEPTION 'events are kept for a week at least'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'events_are_kept_for_a_week';
    END IF;
    SELECT o.transaction_no, o.id, o.latest INTO reached
    FROM (
        SELECT e.transaction_no, e.id, max(e.at) OVER in_order AS latest,
            bool_and(e.at < now() - make_interval(days => days)) OVER in_order AS is_old
        FROM (
            SELECT e.transaction_no, e.id, e.at FROM feed_events e
            WHERE e.organisation_id = organisation AND e.transaction_no < (
                SELECT n.base + pg_snapshot_xmin(pg_current_snapshot())::text::bigint FROM feed_numbering n
            )
            ORDER BY e.transaction_no, e.id LIMIT batch
        ) AS e
        WINDOW in_order AS (ORDER BY e.transaction_no, e.id)
    ) AS o
    WHERE o.is_old ORDER BY o.transaction_no DESC, o.id DESC LIMIT 1;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    INSERT INTO feed_deletions AS d (organisation_id, transaction_no, id, at)
    VALUES (organisation, reached.transaction_no, reached.id, reached.latest)
    ON CONFLICT (organisation_id) DO UPDATE SET
        transaction_no = excluded.transaction_no, id = excluded.id, at = greatest(d.at, excluded.at);
    DELETE FROM feed_events e
    WHERE e.organisation_id = organisation AND (e.transaction_no, e.id) <= (reached.transaction_no, reached.id);
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END
$$;

-- The number of the transaction that sets a base is the time in microseconds. No cluster begins a million transactions in a second,
-- so this is above every number before it, also above those that a restore has taken back.
--
-- The triggers above have taken the lock of `purchases`: what ends from here on has its events.
INSERT INTO feed_numbering (numbered_by, base, began_at)
SELECT cluster_and_timeline(), (extract(epoch FROM clock_timestamp()) * 1000000)::bigint - pg_current_xact_id()::text::bigint,
    clock_timestamp();

GRANT SELECT (id) ON organisations TO vendgate_worker;
GRANT SELECT ON feed_numbering, feed_events, feed_deletions TO vendgate_api, vendgate_worker;
GRANT EXECUTE ON FUNCTION number_feed_here TO vendgate_api, vendgate_worker;
GRANT EXECUTE ON FUNCTION tell_feed_of_expiring_secrets, delete_old_events TO vendgate_worker;
