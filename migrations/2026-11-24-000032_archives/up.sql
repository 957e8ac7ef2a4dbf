-- Expand. The history of a purchase that ended long ago can leave the database, once a file holds it.
--
-- What leaves is `purchase_events` and `provider_replies`. The purchase itself, its attempts, entries and incidents stay: amounts,
-- references, uniqueness and final answers depend on them.

CREATE TABLE archives (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- SHA-256 of the lines of the file: it names an archive, wherever the file is.
    sha256     bytea NOT NULL UNIQUE CHECK (octet_length(sha256) = 32),
    file_name  text NOT NULL CHECK (length(file_name) BETWEEN 1 AND 200),
    -- How many purchases have their history in this file and no longer here.
    purchases  bigint NOT NULL DEFAULT 0 CHECK (purchases >= 0),
    removed_at timestamptz NOT NULL DEFAULT now()
);
GRANT SELECT ON archives TO vendgate_operator;

ALTER TABLE purchases
    ADD COLUMN archive_id bigint,
    ADD CONSTRAINT purchases_archive_after_their_end CHECK (archive_id IS NULL OR ended_at IS NOT NULL) NOT VALID;

-- As migration 30 has it, and the history of a purchase may be deleted with the same mark.
CREATE OR REPLACE FUNCTION refuse_to_rewrite_history() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (tg_op, tg_table_name) IN (
            ('UPDATE', 'incidents'), ('UPDATE', 'unmatched_vends'), ('DELETE', 'provider_replies'), ('DELETE', 'purchase_events')
        )
        AND erasure_is_under_way()
    THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION '% is append-only', tg_table_name USING ERRCODE = 'restrict_violation';
END
$$;

-- As migration 30 has it, and a purchase may be given its archive.
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
        IF OLD.archive_id IS NULL THEN
            was.archive_id := NEW.archive_id;
        END IF;
        IF was IS NOT DISTINCT FROM NEW THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'purchase % has ended', OLD.id USING ERRCODE = 'restrict_violation';
END
$$;

-- As migration 30 has it. A purchase whose history is archived ended long ago, too.
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
    RETURN NULL;
END
$$;

-- The line of a purchase in an archive. It holds no phone number, no name and no comment. Sealed replies stay sealed. The text is
-- the same for as long as the rows are the same.
CREATE FUNCTION archived_history(purchase bigint) RETURNS text LANGUAGE sql STABLE
SET search_path = pg_catalog, public, pg_temp SET timezone = 'UTC' SET bytea_output = 'hex' AS $$
    SELECT jsonb_build_object(
        'purchase', jsonb_build_object('id', p.id, 'reference', p.reference, 'organisation', o.code, 'product', p.product,
            'provider_code', p.provider_code, 'provider_transaction', p.provider_transaction, 'currency', p.currency,
            'total', p.total, 'state', p.state, 'created_at', p.created_at, 'ended_at', p.ended_at),
        'attempts', (
            SELECT coalesce(jsonb_agg(to_jsonb(t) - 'purchase_id' ORDER BY t.number), '[]')
            FROM attempts t WHERE t.purchase_id = p.id
        ),
        'purchase_events', (
            SELECT coalesce(jsonb_agg(to_jsonb(v) - 'purchase_id' ORDER BY v.id), '[]')
            FROM purchase_events v WHERE v.purchase_id = p.id
        ),
        'provider_replies', (
            SELECT coalesce(jsonb_agg(to_jsonb(r) - 'purchase_id' ORDER BY r.at, r.attempt, r.sealed_reply), '[]')
            FROM provider_replies r WHERE r.purchase_id = p.id
        )
    )::text
    FROM purchases p JOIN organisations o ON o.id = p.organisation_id WHERE p.id = purchase
$$;
GRANT EXECUTE ON FUNCTION archived_history TO vendgate_operator;

-- Removes the history of these purchases, which ended a month ago at least. `digests` are the SHA-256 of their lines in the archive:
-- what differs from the rows that are here is refused. Purchases that this archive has already are left as they are, so that a
-- removal which was interrupted can be repeated.
CREATE FUNCTION remove_archived(sha256 bytea, file_name text, ids bigint[], digests bytea[], actor text, reason text,
    OUT removed bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    archive bigint;
    refused bigint;
    open bigint[];
BEGIN
    INSERT INTO archives AS a (sha256, file_name) VALUES (sha256, file_name)
    ON CONFLICT ON CONSTRAINT archives_sha256_key DO UPDATE SET file_name = excluded.file_name
    RETURNING a.id INTO archive;
    SELECT i.id INTO refused
    FROM unnest(ids, digests) AS i (id, digest) LEFT JOIN purchases p ON p.id = i.id
    WHERE p.archive_id IS DISTINCT FROM archive AND (
        p.archive_id IS NULL AND p.ended_at < now() - interval '1 month'
        AND i.digest = pg_catalog.sha256(convert_to(archived_history(p.id), 'UTF8'))
        AND NOT EXISTS (
            SELECT FROM incidents n LEFT JOIN incident_decisions d ON d.incident_id = n.id
            WHERE n.purchase_id = p.id AND d.incident_id IS NULL
        )
    ) IS NOT TRUE
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'the archive does not hold what is stored about purchase %', refused
            USING ERRCODE = 'check_violation', CONSTRAINT = 'archives_hold_what_is_removed';
    END IF;
    open := ARRAY (SELECT p.id FROM purchases p WHERE p.id = ANY (ids) AND p.archive_id IS NULL);

    INSERT INTO erasures_under_way (transaction_id) VALUES (pg_current_xact_id());
    UPDATE purchases p SET archive_id = archive WHERE p.id = ANY (open);
    GET DIAGNOSTICS removed = ROW_COUNT;
    DELETE FROM purchase_events v WHERE v.purchase_id = ANY (open);
    DELETE FROM provider_replies r WHERE r.purchase_id = ANY (open);
    DELETE FROM erasures_under_way WHERE transaction_id = pg_current_xact_id();
    UPDATE archives a SET purchases = a.purchases + removed WHERE a.id = archive;
    IF removed > 0 THEN
        INSERT INTO audit_log (actor, action, subject, reason, details)
        VALUES (actor, 'archive.removed', 'archive:' || encode(sha256, 'hex'), reason,
            jsonb_build_object('file', file_name, 'purchases', removed,
                'first_purchase', (SELECT min(i) FROM unnest(open) AS i), 'last_purchase', (SELECT max(i) FROM unnest(open) AS i)));
    END IF;
END
$$;
GRANT EXECUTE ON FUNCTION remove_archived TO vendgate_operator;
