-- What is known about refusals: that a generic one may be transient, and which confirms were refused before any purchase was
-- made, so that an operator can answer an integrator who asks about one.

-- As migration 4 has it, and a failure that the provider hinted to be transient frees the key too. It agrees with
-- `vend::RefusalReason::is_transient`.
CREATE OR REPLACE FUNCTION refuse_a_held_key() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    last record;
BEGIN
    SELECT idempotency_use, state, failure_reason, ended_at INTO last
    FROM purchases
    WHERE client_id = NEW.client_id AND idempotency_key = NEW.idempotency_key
    ORDER BY idempotency_use DESC LIMIT 1;
    IF NEW.idempotency_use <> coalesce(last.idempotency_use, 0) + 1
        OR last.state IN ('IN_FLIGHT', 'IN_DOUBT', 'RETRY_DUE', 'REVIEW')
        OR (last.ended_at > clock_timestamp() - interval '7 days'
            AND NOT (last.state = 'FAILED'
                AND coalesce(last.failure_reason, '') IN ('busy', 'never_sent', 'other_transient')))
    THEN
        RAISE EXCEPTION 'the idempotency key of purchase % is held', NEW.id
            USING ERRCODE = 'unique_violation', CONSTRAINT = 'purchases_one_per_use_of_key';
    END IF;
    RETURN NEW;
END
$$;

-- Confirms that made no purchase. The servers write them in the background, many at a time, and drop what comes too fast;
-- no confirm waits for it, and one that succeeds does not write here. It is a help for support and proves nothing about
-- money. There are no foreign keys, so that a row locks nothing that a confirm needs.
--
-- Of personal data it holds the subscriber identifier, which may be a phone number, and what an integrator wrote into its
-- reference. Tokens, names, comments and beneficiaries' phone numbers are not in it.
CREATE TABLE refused_confirms (
    id                    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    refused_at            timestamptz NOT NULL,
    organisation_id       bigint NOT NULL,
    client_id             bigint NOT NULL,
    user_id               bigint NOT NULL,
    -- What could be read of the request.
    subscriber_identifier text CHECK (length(subscriber_identifier) BETWEEN 1 AND 100),
    external_reference    text CHECK (length(external_reference) BETWEEN 1 AND 100),
    product               text CHECK (product IN ('ELECTRICITY', 'AIRTIME', 'WATER')),
    provider_code         text CHECK (length(provider_code) BETWEEN 1 AND 100),
    currency              text CHECK (currency ~ '^[A-Z]{3}$'),
    amount                bigint CHECK (amount > 0),
    -- What the integrator was told.
    code                  text NOT NULL CHECK (code ~ '^[a-z_]{1,64}$'),
    param                 text CHECK (length(param) BETWEEN 1 AND 100),
    request_id            text NOT NULL CHECK (length(request_id) BETWEEN 1 AND 128),
    CHECK (num_nulls(currency, amount) IN (0, 2))
);

CREATE INDEX refused_confirms_by_age ON refused_confirms (refused_at);
CREATE INDEX refused_confirms_by_reference ON refused_confirms (external_reference, id)
    WHERE external_reference IS NOT NULL;
CREATE INDEX refused_confirms_by_subscriber ON refused_confirms (subscriber_identifier, id)
    WHERE subscriber_identifier IS NOT NULL;
CREATE INDEX refused_confirms_by_request ON refused_confirms (request_id);

GRANT INSERT (refused_at, organisation_id, client_id, user_id, subscriber_identifier, external_reference, product,
    provider_code, currency, amount, code, param, request_id) ON refused_confirms TO vendgate_api;
GRANT SELECT ON refused_confirms TO vendgate_operator;
GRANT SELECT (id, refused_at), DELETE ON refused_confirms TO vendgate_worker;

-- They are kept for 30 days, whoever clears away.
CREATE FUNCTION refuse_to_forget_a_refusal() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'the confirm was refused within the last 30 days' USING ERRCODE = 'restrict_violation';
END
$$;

CREATE TRIGGER refused_confirms_stay_for_30_days BEFORE DELETE ON refused_confirms
    FOR EACH ROW WHEN (OLD.refused_at > now() - interval '30 days') EXECUTE FUNCTION refuse_to_forget_a_refusal();
