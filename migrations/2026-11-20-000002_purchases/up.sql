-- Money and purchases. What the program promises about them, the database refuses to break: a wallet never
-- below zero, one open purchase per organisation, product and subscriber, one settlement per purchase, a
-- token exactly where one is due, and a journal that nobody who serves can edit.

CREATE TABLE accounts (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- A wallet has an organisation; an account of the house has a role. Never both.
    organisation_id bigint REFERENCES organisations (id),
    house           text CHECK (house IN ('PROVIDER_PAYABLE', 'FEE_INCOME', 'COMMISSION_EXPENSE', 'FUNDING', 'SUSPENSE')),
    name            text NOT NULL,
    currency        text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    category        text CHECK (category IN ('CURRENT', 'COMMISSION', 'TOPUP')),
    status          text NOT NULL DEFAULT 'ACTIVE' CHECK (status IN ('ACTIVE', 'SUSPENDED', 'CLOSED')),
    handling        text NOT NULL DEFAULT 'SELF_MANAGED' CHECK (handling IN ('SELF_MANAGED', 'MANAGED')),
    retries_enabled boolean NOT NULL DEFAULT true,
    rank            integer NOT NULL DEFAULT 0,
    -- Stored for wallets only: a stored balance of the house would be one row that every purchase fights over.
    posted          bigint,
    held            bigint CHECK (held >= 0),
    created_at      timestamptz NOT NULL DEFAULT now(),
    CHECK (posted - held >= 0),
    CHECK (
        CASE WHEN house IS NULL
            THEN organisation_id IS NOT NULL AND category IS NOT NULL AND posted IS NOT NULL AND held IS NOT NULL
            ELSE organisation_id IS NULL AND category IS NULL AND posted IS NULL AND held IS NULL
        END
    )
) WITH (fillfactor = 50);
CREATE INDEX accounts_of_organisation ON accounts (organisation_id);
CREATE UNIQUE INDEX accounts_one_per_house_role ON accounts (house, currency) WHERE house IS NOT NULL;
CREATE UNIQUE INDEX accounts_one_for_commission ON accounts (organisation_id, currency) WHERE category = 'COMMISSION';

CREATE TABLE providers (
    code               text PRIMARY KEY CHECK (code ~ '^[A-Z0-9_]{2,32}$'),
    name               text NOT NULL,
    retries_enabled    boolean NOT NULL DEFAULT true,
    -- What its connection is declared to do in doubt. Off until an operator vouches for it, with a reason.
    repeat_is_safe     boolean NOT NULL DEFAULT false,
    remembers_refusals boolean NOT NULL DEFAULT false,
    not_found_counts   boolean NOT NULL DEFAULT false
);

CREATE TABLE products (
    product    text PRIMARY KEY CHECK (product IN ('ELECTRICITY', 'AIRTIME', 'WATER')),
    length_min smallint CHECK (length_min > 0),
    length_max smallint CHECK (length_max > 0),
    pattern    text,
    hint       text,
    CHECK (length_min <= length_max)
);

CREATE TABLE offers (
    organisation_id bigint NOT NULL REFERENCES organisations (id),
    product         text NOT NULL REFERENCES products (product),
    provider_code   text NOT NULL REFERENCES providers (code),
    currency        text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    fee_fixed       bigint NOT NULL DEFAULT 0 CHECK (fee_fixed >= 0),
    fee_rate        numeric(9, 6) NOT NULL DEFAULT 0 CHECK (fee_rate >= 0 AND fee_rate <= 1),
    fee_floor       bigint CHECK (fee_floor >= 0),
    fee_cap         bigint CHECK (fee_cap >= 0),
    commission_rate numeric(9, 6) NOT NULL DEFAULT 0 CHECK (commission_rate >= 0 AND commission_rate <= 1),
    amount_min      bigint CHECK (amount_min > 0),
    amount_max      bigint CHECK (amount_max > 0),
    PRIMARY KEY (organisation_id, product, provider_code),
    CHECK (fee_floor <= fee_cap),
    CHECK (amount_min <= amount_max)
);
CREATE INDEX offers_of_product ON offers (product);
CREATE INDEX offers_of_provider ON offers (provider_code);

CREATE SEQUENCE purchase_ids AS bigint CACHE 1;

-- The tables that every purchase writes refer to others without foreign keys. A check for each of some twenty
-- references would take as long as the rest of a purchase, and its share lock on the few rows that all purchases
-- have in common (a provider, an account of the house) would be one row that they all fight over. The references
-- hold without it:
--   purchases: the transaction that inserts one reads organisation, client, user, token and commission account and
--     holds the lock of its wallet; product and provider come out of the catalogue, and every change to the purchase
--     reads its provider;
--   attempts, purchase_events, provider_replies, journal_entries, incidents: written by the statement that inserts
--     their purchase, or under its lock;
--   postings: written by the statement that inserts their entry, between locked wallets and accounts of the house.
-- And nothing that they refer to can go: no role that serves or operates may delete it, and triggers below keep
-- everybody else from deleting it by accident.

CREATE TABLE purchases (
    id                       bigint PRIMARY KEY,
    -- Numbers are taken in blocks and ahead of time, so they do not say which purchase is the newest; this does.
    reserved_no              bigint GENERATED ALWAYS AS IDENTITY,
    reference                text NOT NULL,
    organisation_id          bigint NOT NULL,
    client_id                bigint NOT NULL,
    user_id                  bigint NOT NULL,
    account_id               bigint NOT NULL,
    commission_account_id    bigint,
    source_channel           text NOT NULL CHECK (source_channel IN ('WEB', 'SMART_APP', 'USSD', 'BATCH', 'POS', 'SMS_MO')),
    language                 text NOT NULL,
    product                  text NOT NULL,
    provider_code            text NOT NULL,
    subscriber_identifier    text NOT NULL,
    beneficiary_phone_number text NOT NULL,
    currency                 text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    entry                    bigint NOT NULL CHECK (entry > 0),
    charge                   bigint NOT NULL CHECK (charge >= 0),
    net                      bigint NOT NULL CHECK (net > 0),
    total                    bigint NOT NULL CHECK (total = net + charge),
    commission               bigint NOT NULL CHECK (commission >= 0),
    external_reference       text,
    comment                  text,
    requester_sms            boolean NOT NULL,
    beneficiary_sms          boolean NOT NULL,
    requester_email          boolean NOT NULL,
    beneficiary_email        boolean NOT NULL,
    subscriber_details       text,
    created_at               timestamptz NOT NULL,

    state                    text NOT NULL CHECK (state IN ('IN_FLIGHT', 'IN_DOUBT', 'RETRY_DUE', 'REVIEW', 'SUCCESSFUL', 'FAILED')),
    handling                 text NOT NULL CHECK (handling IN ('SELF_MANAGED', 'MANAGED')),
    fence                    bigint NOT NULL CHECK (fence > 0),
    lease_until              timestamptz,
    attempt                  smallint NOT NULL CHECK (attempt > 0),
    requests                 smallint NOT NULL CHECK (requests >= 0),
    window_closes_at         timestamptz NOT NULL,
    copies                   smallint CHECK (copies > 0),
    last_sent_at             timestamptz,
    no_record_since          timestamptz,
    provider_reference       text NOT NULL,
    ended_at                 timestamptz,

    token_key_id             integer,
    sealed_token             bytea,
    units_quantity           numeric CHECK (units_quantity <> 'NaN'),
    units_unit               text,
    provider_transaction     text,
    vend_subscriber_details  text,
    cost                     bigint,
    vat                      bigint,
    levy                     bigint,
    regulatory_fee           bigint,
    provider_charge          bigint,

    failure                  text CHECK (failure IN ('REFUSED', 'NO_RECORD', 'OPERATOR')),
    failure_reason           text,
    failure_wording          text,

    CHECK ((commission > 0) <= (commission_account_id IS NOT NULL)),
    CHECK (handling = 'MANAGED' OR state <> 'RETRY_DUE'),
    CHECK ((state IN ('IN_FLIGHT', 'IN_DOUBT', 'REVIEW')) = (copies IS NOT NULL)),
    CHECK ((copies IS NULL) = (last_sent_at IS NULL)),
    CHECK ((state IN ('SUCCESSFUL', 'FAILED')) = (ended_at IS NOT NULL)),
    CHECK (ended_at IS NULL OR lease_until IS NULL),
    CHECK ((state = 'SUCCESSFUL') = (provider_transaction IS NOT NULL)),
    CHECK (sealed_token IS NULL OR (state = 'SUCCESSFUL' AND product <> 'AIRTIME')),
    CHECK (NOT (state = 'SUCCESSFUL' AND product = 'ELECTRICITY') OR sealed_token IS NOT NULL),
    CHECK ((sealed_token IS NULL) = (token_key_id IS NULL)),
    CHECK ((units_quantity IS NULL) = (units_unit IS NULL)),
    CHECK (cost IS NULL OR cost + vat + levy + regulatory_fee + provider_charge = net),
    CHECK ((state = 'FAILED') <= (failure IS NOT NULL)),
    CHECK ((failure = 'REFUSED') = (failure_reason IS NOT NULL))
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX purchases_one_open_per_subscriber
    ON purchases (organisation_id, product, subscriber_identifier)
    WHERE state IN ('IN_FLIGHT', 'IN_DOUBT', 'RETRY_DUE', 'REVIEW');
CREATE INDEX purchases_for_retry
    ON purchases (organisation_id, subscriber_identifier, external_reference, reserved_no)
    WHERE external_reference IS NOT NULL;

-- Every name under which an order may ever have left us, written before it leaves.
CREATE TABLE attempts (
    purchase_id        bigint NOT NULL,
    number             smallint NOT NULL CHECK (number > 0),
    provider_code      text NOT NULL,
    provider_reference text NOT NULL,
    started_at         timestamptz NOT NULL,
    PRIMARY KEY (purchase_id, number)
);
CREATE UNIQUE INDEX attempts_one_per_provider_reference ON attempts (provider_code, provider_reference);

-- What happened to a purchase, one row per change of state.
CREATE TABLE purchase_events (
    id          bigint GENERATED ALWAYS AS IDENTITY,
    purchase_id bigint NOT NULL,
    at          timestamptz NOT NULL,
    fact        text NOT NULL,
    detail      text,
    state       text NOT NULL,
    fence       bigint NOT NULL,
    attempt     smallint NOT NULL,
    PRIMARY KEY (purchase_id, id)
);

-- What a provider said, sealed: it may hold tokens.
CREATE TABLE provider_replies (
    purchase_id  bigint NOT NULL,
    attempt      smallint NOT NULL,
    at           timestamptz NOT NULL,
    key_id       integer NOT NULL,
    sealed_reply bytea NOT NULL
);
CREATE INDEX provider_replies_of_purchase ON provider_replies (purchase_id);
-- What is sealed cannot be compressed, and what fits a page is kept in it.
ALTER TABLE provider_replies SET (toast_tuple_target = 8160);
ALTER TABLE provider_replies ALTER sealed_reply SET STORAGE EXTERNAL;

CREATE SEQUENCE journal_entry_ids AS bigint;

CREATE TABLE journal_entries (
    id          bigint PRIMARY KEY DEFAULT nextval('journal_entry_ids'),
    kind        text NOT NULL CHECK (kind IN ('SETTLE', 'TOP_UP', 'ADJUST', 'INCIDENT')),
    purchase_id bigint,
    reason      text,
    posted_at   timestamptz NOT NULL,
    CHECK ((kind IN ('SETTLE', 'INCIDENT')) = (purchase_id IS NOT NULL)),
    CHECK ((kind IN ('TOP_UP', 'ADJUST')) = (reason IS NOT NULL))
);
CREATE UNIQUE INDEX journal_entries_one_settlement ON journal_entries (purchase_id) WHERE kind = 'SETTLE';
CREATE INDEX journal_entries_beside_settlement ON journal_entries (purchase_id) WHERE kind <> 'SETTLE';

-- A posting is a move, so no set of postings can be unbalanced.
CREATE TABLE postings (
    entry_id          bigint NOT NULL,
    debit_account_id  bigint NOT NULL,
    credit_account_id bigint NOT NULL,
    currency          text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    amount            bigint NOT NULL CHECK (amount > 0),
    CHECK (debit_account_id <> credit_account_id)
);
CREATE INDEX postings_of_entry ON postings (entry_id);
CREATE INDEX postings_by_debit ON postings (debit_account_id);
CREATE INDEX postings_by_credit ON postings (credit_account_id);

-- An assumption about a provider broke: a vend nobody paid for. A person decides.
CREATE TABLE incidents (
    id                   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    purchase_id          bigint NOT NULL,
    kind                 text NOT NULL CHECK (kind IN ('LATE_VEND', 'SECOND_VEND')),
    at                   timestamptz NOT NULL,
    provider_transaction text NOT NULL,
    token_key_id         integer,
    sealed_token         bytea,
    CHECK ((sealed_token IS NULL) = (token_key_id IS NULL))
);
CREATE UNIQUE INDEX incidents_one_per_vend ON incidents (purchase_id, provider_transaction);

-- A retry that answered "not found" closes its reference for confirms that were already under way, so that
-- the answer stays true.
CREATE TABLE closed_references (
    organisation_id       bigint NOT NULL REFERENCES organisations (id),
    subscriber_identifier text NOT NULL,
    external_reference    text NOT NULL,
    closed_at             timestamptz NOT NULL,
    PRIMARY KEY (organisation_id, subscriber_identifier, external_reference)
);

-- Those who serve append to the journal and its neighbours and can edit none of them.
GRANT SELECT ON accounts, providers, products, offers, purchases, attempts, purchase_events, provider_replies,
    journal_entries, postings, incidents, closed_references TO vendgate_api;
GRANT INSERT ON purchases, attempts, purchase_events, provider_replies, journal_entries, postings, incidents,
    closed_references TO vendgate_api;
GRANT UPDATE (posted, held) ON accounts TO vendgate_api;
GRANT UPDATE (state, fence, lease_until, attempt, requests, copies, last_sent_at, no_record_since, provider_reference,
    ended_at, token_key_id, sealed_token, units_quantity, units_unit, provider_transaction, vend_subscriber_details,
    cost, vat, levy, regulatory_fee, provider_charge, failure, failure_reason, failure_wording) ON purchases TO vendgate_api;
GRANT UPDATE (closed_at) ON closed_references TO vendgate_api;
GRANT USAGE ON SEQUENCE purchase_ids, journal_entry_ids TO vendgate_api;

-- The operator opens accounts and keeps the catalogue; nobody edits what has been posted.
GRANT INSERT ON accounts, providers, products, offers TO vendgate_operator;
GRANT UPDATE (name, status, handling, retries_enabled, rank) ON accounts TO vendgate_operator;
GRANT UPDATE ON providers, products, offers TO vendgate_operator;
GRANT DELETE ON offers TO vendgate_operator;

-- The grants keep the servers from rewriting history; this keeps everybody else from doing so by accident.
CREATE TRIGGER attempts_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON attempts
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();
CREATE TRIGGER purchase_events_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON purchase_events
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();
CREATE TRIGGER journal_entries_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON journal_entries
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();
CREATE TRIGGER postings_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON postings
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();

CREATE TRIGGER provider_replies_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON provider_replies
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();
CREATE TRIGGER purchases_stay BEFORE DELETE OR TRUNCATE ON purchases
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();
CREATE TRIGGER accounts_stay BEFORE DELETE OR TRUNCATE ON accounts
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();
CREATE TRIGGER products_stay BEFORE DELETE OR TRUNCATE ON products
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();
CREATE TRIGGER providers_stay BEFORE DELETE OR TRUNCATE ON providers
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();
CREATE TRIGGER organisations_stay BEFORE DELETE OR TRUNCATE ON organisations
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();
CREATE TRIGGER oauth_clients_stay BEFORE DELETE OR TRUNCATE ON oauth_clients
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();
CREATE TRIGGER users_stay BEFORE DELETE OR TRUNCATE ON users
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();

CREATE FUNCTION refuse_to_reopen() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'purchase % has ended', OLD.id USING ERRCODE = 'restrict_violation';
END
$$;

CREATE TRIGGER purchases_end_once BEFORE UPDATE ON purchases
    FOR EACH ROW WHEN (OLD.state IN ('SUCCESSFUL', 'FAILED')) EXECUTE FUNCTION refuse_to_reopen();
