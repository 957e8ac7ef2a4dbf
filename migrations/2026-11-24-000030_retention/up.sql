-- Expand. Personal data and sealed values of ended purchases end by policy.
--
-- A purchase that has ended is never updated, and a provider's reply is never deleted: triggers refuse it. From here on they admit
-- one function, `erase_from_purchases`, and only for columns that no amount and no final answer depends on. It is called by
-- `apply_retention` for the worker, and by `erase_person` for an operator.

ALTER TABLE purchases
    ADD COLUMN personal_data_erased_at timestamptz,
    ADD COLUMN sealed_values_erased_at timestamptz,
    ADD CONSTRAINT purchases_erase_after_their_end CHECK (
        personal_data_erased_at IS NULL AND sealed_values_erased_at IS NULL OR ended_at IS NOT NULL
    ) NOT VALID,
    DROP CONSTRAINT purchases_check9,
    ADD CONSTRAINT purchases_electricity_has_its_token CHECK (
        NOT (state = 'SUCCESSFUL' AND product = 'ELECTRICITY') OR sealed_token IS NOT NULL
        OR sealed_values_erased_at IS NOT NULL
    ) NOT VALID;

-- The transaction that erases at this moment. Only the function below writes it, and removes it before it returns: no role has a
-- right to this table.
CREATE TABLE erasures_under_way (
    transaction_id xid8 PRIMARY KEY
);

CREATE FUNCTION erasure_is_under_way() RETURNS boolean LANGUAGE sql STABLE
SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (SELECT FROM public.erasures_under_way WHERE transaction_id = pg_current_xact_id_if_assigned())
$$;

-- A phone number is also the subscriber identifier of airtime, by which a retry finds its purchase. So it is replaced by a
-- pseudonym under a key that no role can read: the same number has the same pseudonym, so a retry still finds the purchase.
CREATE TABLE pseudonym_keys (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    key      bytea NOT NULL CHECK (octet_length(key) = 32)
);
INSERT INTO pseudonym_keys (key)
SELECT sha256(convert_to(string_agg(gen_random_uuid()::text, ''), 'UTF8')) FROM generate_series(1, 8);

CREATE FUNCTION pseudonym(identifier text) RETURNS text LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT 'erased.' || left(encode(sha256(key || sha256(key || convert_to(identifier, 'UTF8'))), 'hex'), 32)
    FROM public.pseudonym_keys
$$;
GRANT EXECUTE ON FUNCTION pseudonym TO vendgate_api;

-- How far each organisation's purchases have been erased, in the order in which they were made. `left_behind` are those before that
-- point that could not be erased yet: open ones, and those with an incident that is not decided.
CREATE TABLE retention_progress (
    organisation_id bigint NOT NULL REFERENCES organisations (id),
    kind            text NOT NULL CHECK (kind IN ('PERSONAL_DATA', 'SEALED_VALUES')),
    created_at      timestamptz NOT NULL DEFAULT '-infinity',
    purchase_id     bigint NOT NULL DEFAULT 0,
    left_behind     bigint[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (organisation_id, kind)
);

CREATE OR REPLACE FUNCTION refuse_to_rewrite_history() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (tg_op, tg_table_name) IN (('UPDATE', 'incidents'), ('UPDATE', 'unmatched_vends'), ('DELETE', 'provider_replies'))
        AND erasure_is_under_way()
    THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION '% is append-only', tg_table_name USING ERRCODE = 'restrict_violation';
END
$$;

-- As before, but for an erasure that changes nothing else.
CREATE OR REPLACE FUNCTION refuse_to_reopen() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    was purchases := OLD;
BEGIN
    IF erasure_is_under_way() THEN
        IF NEW.personal_data_erased_at IS NOT NULL THEN
            IF OLD.product = 'AIRTIME' THEN
                was.subscriber_identifier := NEW.subscriber_identifier;
            END IF;
            was.beneficiary_phone_number := 'erased';
            was.comment := NULL;
            was.subscriber_details := NULL;
            was.vend_subscriber_details := NULL;
            was.failure_wording := NULL;
            was.request_hash := NEW.request_hash;
            was.personal_data_erased_at := NEW.personal_data_erased_at;
        END IF;
        IF NEW.sealed_values_erased_at IS NOT NULL THEN
            was.sealed_token := NULL;
            was.token_key_id := NULL;
            was.sealed_values_erased_at := NEW.sealed_values_erased_at;
        END IF;
        IF was IS NOT DISTINCT FROM NEW THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'purchase % has ended', OLD.id USING ERRCODE = 'restrict_violation';
END
$$;

-- As migration 13 has it. A purchase that is erased ended long ago: it is not settled again.
CREATE OR REPLACE FUNCTION settle_purchases() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM changed
        WHERE ended_at IS NOT NULL AND personal_data_erased_at IS NULL AND sealed_values_erased_at IS NULL
    ) THEN
        RETURN NULL;
    END IF;

    UPDATE accounts a SET held = a.held - h.total
    FROM (
        SELECT account_id, sum(total)::bigint AS total FROM changed
        WHERE ended_at IS NOT NULL AND personal_data_erased_at IS NULL AND sealed_values_erased_at IS NULL
        GROUP BY account_id
    ) AS h
    WHERE a.id = h.account_id;

    WITH entry AS MATERIALIZED (
        SELECT nextval('journal_entry_ids') AS entry_id, p.id, p.account_id, p.commission_account_id, p.currency, p.net,
            p.charge, p.commission
        FROM changed p
        WHERE p.state = 'SUCCESSFUL' AND p.personal_data_erased_at IS NULL AND p.sealed_values_erased_at IS NULL
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

-- Erases personal data, sealed values or both of these purchases, which ended a week ago at least: until then an idempotency key
-- is held, and a message may be on its way. Returns how many of them had something to be erased.
CREATE FUNCTION erase_from_purchases(ids bigint[], personal_data boolean, sealed_values boolean) RETURNS bigint LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    -- The schema of this migration. Programs before it do not find a purchase by the pseudonym of its subscriber.
    knows_pseudonyms CONSTANT text := '20261124000030';
    refused bigint;
    erased bigint;
BEGIN
    SELECT i.id INTO refused
    FROM unnest(ids) AS i (id) LEFT JOIN purchases p ON p.id = i.id
    WHERE (p.ended_at < now() - interval '7 days') IS NOT TRUE
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'purchase % is open, or ended within the last 7 days', refused
            USING ERRCODE = 'check_violation', CONSTRAINT = 'erased_purchases_ended_a_week_ago';
    END IF;

    IF personal_data
        AND EXISTS (SELECT FROM served_programs WHERE oldest_schema < knows_pseudonyms COLLATE "C")
        AND EXISTS (
            SELECT FROM purchases WHERE id = ANY (ids) AND product = 'AIRTIME' AND personal_data_erased_at IS NULL
        )
    THEN
        PERFORM end_programs_before(knows_pseudonyms);
    END IF;

    INSERT INTO erasures_under_way (transaction_id) VALUES (pg_current_xact_id());
    UPDATE purchases p SET
        subscriber_identifier = CASE
            WHEN w.erases_person AND p.product = 'AIRTIME' THEN pseudonym(p.subscriber_identifier)
            ELSE p.subscriber_identifier
        END,
        beneficiary_phone_number = CASE WHEN w.erases_person THEN 'erased' ELSE p.beneficiary_phone_number END,
        comment = CASE WHEN NOT w.erases_person THEN p.comment END,
        subscriber_details = CASE WHEN NOT w.erases_person THEN p.subscriber_details END,
        vend_subscriber_details = CASE WHEN NOT w.erases_person THEN p.vend_subscriber_details END,
        failure_wording = CASE WHEN NOT w.erases_person THEN p.failure_wording END,
        -- A hash of few unknown digits gives them away. It stays a hash, because a key is kept with one.
        request_hash = CASE
            WHEN w.erases_person AND p.request_hash IS NOT NULL THEN decode(repeat('00', 32), 'hex')
            ELSE p.request_hash
        END,
        personal_data_erased_at = CASE WHEN w.erases_person THEN now() ELSE p.personal_data_erased_at END,
        sealed_token = CASE WHEN NOT w.erases_sealed THEN p.sealed_token END,
        token_key_id = CASE WHEN NOT w.erases_sealed THEN p.token_key_id END,
        sealed_values_erased_at = CASE WHEN w.erases_sealed THEN now() ELSE p.sealed_values_erased_at END
    FROM (
        SELECT o.id, personal_data AND o.personal_data_erased_at IS NULL AS erases_person,
            sealed_values AND o.sealed_values_erased_at IS NULL AS erases_sealed
        FROM purchases o WHERE o.id = ANY (ids)
    ) AS w
    WHERE p.id = w.id AND (w.erases_person OR w.erases_sealed);
    GET DIAGNOSTICS erased = ROW_COUNT;
    IF sealed_values THEN
        DELETE FROM provider_replies WHERE purchase_id = ANY (ids);
        UPDATE incidents SET sealed_token = NULL, token_key_id = NULL
        WHERE purchase_id = ANY (ids) AND sealed_token IS NOT NULL;
    END IF;
    DELETE FROM erasures_under_way WHERE transaction_id = pg_current_xact_id();

    IF personal_data THEN
        -- There is no number left to send it to.
        UPDATE outbox SET given_up_at = now(), given_up_because = 'TOO_OLD'
        WHERE purchase_id = ANY (ids) AND sent_at IS NULL AND given_up_at IS NULL;
    END IF;
    RETURN erased;
END
$$;

-- The same for vends that only a provider's statement had, once they are decided. They are few.
CREATE FUNCTION erase_from_unmatched_vends(kind text, entered_before timestamptz) RETURNS bigint LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    erased bigint;
BEGIN
    INSERT INTO erasures_under_way (transaction_id) VALUES (pg_current_xact_id());
    UPDATE unmatched_vends u SET
        subscriber_identifier = CASE
            WHEN kind = 'PERSONAL_DATA' THEN pseudonym(u.subscriber_identifier) ELSE u.subscriber_identifier
        END,
        sealed_token = CASE WHEN kind <> 'SEALED_VALUES' THEN u.sealed_token END,
        token_key_id = CASE WHEN kind <> 'SEALED_VALUES' THEN u.token_key_id END
    WHERE u.entered_at < entered_before
        AND EXISTS (SELECT FROM unmatched_vend_decisions d WHERE d.unmatched_vend_id = u.id)
        AND CASE kind
            WHEN 'PERSONAL_DATA' THEN u.product = 'AIRTIME' AND u.subscriber_identifier NOT LIKE 'erased.%'
            ELSE u.sealed_token IS NOT NULL
        END;
    GET DIAGNOSTICS erased = ROW_COUNT;
    DELETE FROM erasures_under_way WHERE transaction_id = pg_current_xact_id();
    RETURN erased;
END
$$;

-- One batch of the worker: erases this kind from purchases that ended `months` months ago. `reached` is how many purchases it has
-- looked at for the first time; when it is zero, nothing older is left.
--
-- The order is that of creation, along the index by which an integrator lists its purchases. A purchase made more than a month
-- ago is visible by now, so the order has no gaps in which one could be missed.
CREATE FUNCTION apply_retention(kind text, months integer, batch integer, OUT reached bigint, OUT erased bigint) LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    cutoff CONSTANT timestamptz := now() - make_interval(months => months);
    organisation bigint;
    progress retention_progress;
    stretch record;
    ready bigint[];
    ids bigint[] := '{}';
BEGIN
    IF (kind IN ('PERSONAL_DATA', 'SEALED_VALUES') AND months >= 1 AND batch BETWEEN 1 AND 10000) IS NOT TRUE THEN
        RAISE EXCEPTION 'there is no such retention' USING ERRCODE = 'check_violation', CONSTRAINT = 'retention_is_a_month_at_least';
    END IF;
    reached := 0;
    FOR organisation IN SELECT o.id FROM organisations o ORDER BY o.id LOOP
        INSERT INTO retention_progress AS r (organisation_id, kind) VALUES (organisation, kind) ON CONFLICT DO NOTHING;
        SELECT r.* INTO progress FROM retention_progress r
        WHERE r.organisation_id = organisation AND r.kind = kind FOR UPDATE;
        SELECT coalesce(array_agg(s.id ORDER BY s.created_at, s.id), '{}') AS ids, max(s.created_at) AS created_at INTO stretch
        FROM (
            SELECT p.id, p.created_at FROM purchases p
            WHERE p.organisation_id = organisation AND (p.created_at, p.id) > (progress.created_at, progress.purchase_id)
                -- A day less, so that few of them have ended later than they had to.
                AND p.created_at < cutoff - interval '1 day'
            ORDER BY p.created_at, p.id LIMIT batch - reached
        ) AS s;
        CONTINUE WHEN stretch.ids = '{}' AND progress.left_behind = '{}';

        SELECT coalesce(array_agg(p.id), '{}') INTO ready
        FROM purchases p
        WHERE p.id = ANY (stretch.ids || progress.left_behind) AND p.ended_at < cutoff
            AND NOT EXISTS (
                SELECT FROM incidents i LEFT JOIN incident_decisions d ON d.incident_id = i.id
                WHERE i.purchase_id = p.id AND (d.at < cutoff) IS NOT TRUE
            );
        UPDATE retention_progress r SET
            created_at = coalesce(stretch.created_at, progress.created_at),
            purchase_id = coalesce(stretch.ids[cardinality(stretch.ids)], progress.purchase_id),
            left_behind = ARRAY (
                SELECT l.id FROM unnest(stretch.ids || progress.left_behind) AS l (id) WHERE l.id <> ALL (ready) ORDER BY l.id
            )
        WHERE r.organisation_id = organisation AND r.kind = kind;
        ids := ids || ready;
        reached := reached + cardinality(stretch.ids);
        EXIT WHEN reached >= batch;
    END LOOP;

    erased := erase_from_purchases(ids, kind = 'PERSONAL_DATA', kind = 'SEALED_VALUES')
        + erase_from_unmatched_vends(kind, cutoff);
    IF erased > 0 THEN
        INSERT INTO audit_log (actor, action, subject, reason, details)
        VALUES ('housekeeping', 'retention.applied', 'retention:' || lower(kind), format('older than %s months', months),
            jsonb_build_object('rows', erased,
                'first_purchase', (SELECT min(i) FROM unnest(ids) AS i), 'last_purchase', (SELECT max(i) FROM unnest(ids) AS i)));
    END IF;
END
$$;
GRANT EXECUTE ON FUNCTION apply_retention TO vendgate_worker;

-- Erases what is stored about one person, now. `identifiers` are the phone numbers or meters as they are stored. `purchases` are
-- some of the person's ended purchases: the caller looks for them, because no index has a phone number. The last call, with
-- `finish`, also clears what is not a purchase.
CREATE FUNCTION erase_person(identifiers text[], purchases bigint[], finish boolean, actor text, reason text, OUT erased bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    pseudonyms CONSTANT text[] := ARRAY (SELECT pseudonym(i) FROM unnest(identifiers) AS i);
    other bigint;
    refusals bigint := 0;
BEGIN
    SELECT p.id INTO other FROM public.purchases p
    WHERE p.state IN ('IN_FLIGHT', 'IN_DOUBT', 'RETRY_DUE', 'REVIEW')
        AND (p.subscriber_identifier = ANY (identifiers) OR p.beneficiary_phone_number = ANY (identifiers))
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'purchase % of this person is open', other
            USING ERRCODE = 'check_violation', CONSTRAINT = 'erased_persons_have_nothing_open';
    END IF;
    SELECT i.id INTO other
    FROM unnest(purchases) AS i (id) LEFT JOIN public.purchases p ON p.id = i.id
    WHERE (
        p.subscriber_identifier = ANY (identifiers || pseudonyms) OR p.beneficiary_phone_number = ANY (identifiers)
    ) IS NOT TRUE
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'purchase % is not of this person', other
            USING ERRCODE = 'check_violation', CONSTRAINT = 'erased_purchases_are_the_persons';
    END IF;
    SELECT i.purchase_id INTO other
    FROM incidents i LEFT JOIN incident_decisions d ON d.incident_id = i.id
    WHERE i.purchase_id = ANY (purchases) AND d.incident_id IS NULL
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'purchase % has an incident without a decision', other
            USING ERRCODE = 'check_violation', CONSTRAINT = 'erased_purchases_have_no_open_incident';
    END IF;

    erased := erase_from_purchases(purchases, true, true);
    IF finish THEN
        UPDATE refused_confirms SET subscriber_identifier = NULL WHERE subscriber_identifier = ANY (identifiers);
        GET DIAGNOSTICS refusals = ROW_COUNT;
    END IF;
    INSERT INTO audit_log (actor, action, subject, reason, details)
    VALUES (actor, 'person.erased', 'person:' || pseudonyms[1], reason,
        jsonb_build_object('pseudonyms', pseudonyms, 'purchases', erased, 'refused_confirms', refusals));
END
$$;
GRANT EXECUTE ON FUNCTION erase_person TO vendgate_operator;

GRANT SELECT ON retention_progress TO vendgate_operator;
