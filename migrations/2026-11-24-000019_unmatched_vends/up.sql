-- Expand. After a restore to a moment, a provider has vends that the database does not have. They are entered from the
-- provider's statement, owed to it out of suspense, and decided by an operator.

ALTER TABLE journal_entries
    DROP CONSTRAINT journal_entries_kind_check,
    ADD CONSTRAINT journal_entries_kind_check
        CHECK (kind IN ('SETTLE', 'TOP_UP', 'ADJUST', 'INCIDENT', 'UNMATCHED_VEND')) NOT VALID;

CREATE SEQUENCE unmatched_vend_ids AS bigint;

CREATE TABLE unmatched_vends (
    id                    bigint PRIMARY KEY,
    provider_code         text NOT NULL REFERENCES providers (code),
    provider_reference    text NOT NULL CHECK (provider_reference <> ''),
    provider_transaction  text NOT NULL CHECK (provider_transaction <> ''),
    vended_at             timestamptz NOT NULL,
    product               text NOT NULL CHECK (product IN ('ELECTRICITY', 'AIRTIME', 'WATER')),
    subscriber_identifier text NOT NULL,
    currency              text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    net                   bigint NOT NULL CHECK (net > 0),
    token_key_id          integer,
    sealed_token          bytea,
    -- Set by a trigger: the entry by which it is owed.
    entry_id              bigint NOT NULL UNIQUE,
    entered_at            timestamptz NOT NULL,
    CHECK ((sealed_token IS NULL) = (token_key_id IS NULL))
);
CREATE UNIQUE INDEX unmatched_vends_one_per_reference ON unmatched_vends (provider_code, provider_reference);
CREATE UNIQUE INDEX unmatched_vends_one_per_transaction ON unmatched_vends (provider_code, provider_transaction);

-- An order that this database has sent is settled as a purchase, and never here.
CREATE FUNCTION number_unmatched_vend() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF EXISTS (
        SELECT FROM attempts a
        WHERE a.provider_code = NEW.provider_code AND a.provider_reference = NEW.provider_reference
    ) THEN
        RAISE EXCEPTION 'the order % of % is known', NEW.provider_reference, NEW.provider_code
            USING ERRCODE = 'check_violation', CONSTRAINT = 'unmatched_vends_are_unknown';
    END IF;
    NEW.entry_id := nextval('journal_entry_ids');
    NEW.entered_at := clock_timestamp();
    RETURN NEW;
END
$$;

CREATE TRIGGER unmatched_vends_are_numbered BEFORE INSERT ON unmatched_vends
    FOR EACH ROW EXECUTE FUNCTION number_unmatched_vend();

CREATE FUNCTION post_unmatched_vends() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    INSERT INTO journal_entries (id, kind, posted_at) SELECT entry_id, 'UNMATCHED_VEND', entered_at FROM entered;
    INSERT INTO postings (entry_id, debit_account_id, credit_account_id, currency, amount)
    SELECT e.entry_id, suspense.id, payable.id, e.currency, e.net
    FROM entered e
    LEFT JOIN accounts suspense ON suspense.house = 'SUSPENSE' AND suspense.currency = e.currency
    LEFT JOIN accounts payable ON payable.house = 'PROVIDER_PAYABLE' AND payable.currency = e.currency;
    RETURN NULL;
END
$$;

CREATE TRIGGER unmatched_vends_are_posted AFTER INSERT ON unmatched_vends
    REFERENCING NEW TABLE AS entered FOR EACH STATEMENT EXECUTE FUNCTION post_unmatched_vends();

CREATE TRIGGER unmatched_vends_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON unmatched_vends
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();

-- What a person decided. A vend is charged to a wallet by a correction against suspense, or waived.
CREATE TABLE unmatched_vend_decisions (
    unmatched_vend_id bigint PRIMARY KEY REFERENCES unmatched_vends (id),
    -- The correction that charged it, with all others of the same decision. NULL: it was waived.
    entry_id          bigint,
    at                timestamptz NOT NULL DEFAULT now(),
    actor             text NOT NULL CHECK (length(actor) BETWEEN 1 AND 200),
    reason            text NOT NULL
);
CREATE INDEX unmatched_vend_decisions_by_entry ON unmatched_vend_decisions (entry_id) WHERE entry_id IS NOT NULL;

CREATE FUNCTION check_charged_vends() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    refused bigint;
BEGIN
    SELECT d.entry_id INTO refused
    FROM (SELECT DISTINCT entry_id FROM decided WHERE entry_id IS NOT NULL) d
    LEFT JOIN journal_entries e ON e.id = d.entry_id
    LEFT JOIN postings p ON p.entry_id = d.entry_id
    LEFT JOIN accounts suspense ON suspense.id = p.credit_account_id
    WHERE (
        e.kind = 'ADJUST' AND suspense.house = 'SUSPENSE'
        AND (p.currency, p.amount) = (
            SELECT min(u.currency), sum(u.net)::bigint
            FROM unmatched_vend_decisions o JOIN unmatched_vends u ON u.id = o.unmatched_vend_id
            WHERE o.entry_id = d.entry_id
            HAVING count(DISTINCT u.currency) = 1
        )
    ) IS NOT TRUE
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'entry % does not charge these vends', refused
            USING ERRCODE = 'check_violation', CONSTRAINT = 'unmatched_vends_are_charged_once';
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER unmatched_vend_decisions_are_paid AFTER INSERT ON unmatched_vend_decisions
    REFERENCING NEW TABLE AS decided FOR EACH STATEMENT EXECUTE FUNCTION check_charged_vends();

CREATE TRIGGER unmatched_vend_decisions_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON unmatched_vend_decisions
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();

GRANT SELECT ON unmatched_vends, unmatched_vend_decisions TO vendgate_operator;
GRANT SELECT ON unmatched_vends TO vendgate_worker;
GRANT USAGE ON SEQUENCE unmatched_vend_ids TO vendgate_operator;
GRANT INSERT (id, provider_code, provider_reference, provider_transaction, vended_at, product, subscriber_identifier, currency,
    net, token_key_id, sealed_token) ON unmatched_vends TO vendgate_operator;
GRANT INSERT (unmatched_vend_id, entry_id, actor, reason) ON unmatched_vend_decisions TO vendgate_operator;
