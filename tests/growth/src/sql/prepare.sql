CREATE TEMP TABLE merchants (
    place                 integer PRIMARY KEY,
    organisation_id       bigint NOT NULL,
    client_id             bigint NOT NULL,
    user_id               bigint NOT NULL,
    account_id            bigint NOT NULL,
    commission_account_id bigint NOT NULL
);
-- The end of the history, the same for all batches.
CREATE TEMP TABLE history_end AS SELECT now() - interval '1 hour' AS at;
CREATE TEMP TABLE batch (
    id                    bigint NOT NULL,
    organisation_id       bigint NOT NULL,
    client_id             bigint NOT NULL,
    user_id               bigint NOT NULL,
    account_id            bigint NOT NULL,
    commission_account_id bigint NOT NULL,
    product               text NOT NULL,
    provider_code         text NOT NULL,
    subscriber            text NOT NULL,
    net                   bigint NOT NULL,
    ending                text NOT NULL,
    external_reference    text,
    idempotency_key       text,
    sealed_token          bytea,
    sealed_reply          bytea NOT NULL,
    at                    timestamptz NOT NULL,
    ended_at              timestamptz,
    is_success            boolean NOT NULL,
    provider_reference    text NOT NULL,
    provider_transaction  text NOT NULL,
    entry_id              bigint
);
