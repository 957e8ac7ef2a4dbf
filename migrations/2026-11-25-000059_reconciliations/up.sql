-- Expand. A provider's statement of a period is held against the books. Each run is kept, with every discrepancy that it found, until a
-- person has decided about it. Nothing here moves money.

CREATE TABLE reconciliations (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provider_code text NOT NULL REFERENCES providers (code),
    file_name     text NOT NULL CHECK (file_name <> ''),
    file_sha256   bytea NOT NULL CHECK (octet_length(file_sha256) = 32),
    -- The statement has what was vended from the first moment, and before the second.
    covers_from   timestamptz NOT NULL,
    covers_until  timestamptz NOT NULL,
    -- How far the provider's clock may be from ours.
    tolerance_s   integer NOT NULL CHECK (tolerance_s BETWEEN 0 AND 43200),
    started_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor         text NOT NULL CHECK (length(actor) BETWEEN 1 AND 200),
    login         text NOT NULL DEFAULT session_user,
    reason        text NOT NULL,
    -- NULL, like the counts: the run has not finished, because it still runs or was interrupted.
    finished_at   timestamptz,
    lines         bigint,
    -- Each line is one of these four.
    matched       bigint,
    still_open    bigint,
    only_theirs   bigint,
    different     bigint,
    -- Purchases that no line of the statement is about.
    only_ours     bigint,
    CHECK (covers_from < covers_until),
    CHECK (num_nulls(finished_at, lines, matched, still_open, only_theirs, different, only_ours) IN (0, 7)),
    CONSTRAINT reconciliations_count_every_line CHECK (lines = matched + still_open + only_theirs + different)
);
CREATE INDEX reconciliations_of_provider ON reconciliations (provider_code, covers_until);

CREATE FUNCTION finish_reconciliation() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF OLD.finished_at IS NOT NULL THEN
        RAISE EXCEPTION 'reconciliation % has finished', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    NEW.finished_at := clock_timestamp();
    RETURN NEW;
END
$$;
CREATE TRIGGER reconciliations_finish_once BEFORE UPDATE ON reconciliations
    FOR EACH ROW EXECUTE FUNCTION finish_reconciliation();
CREATE TRIGGER reconciliations_are_kept BEFORE DELETE OR TRUNCATE ON reconciliations
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();

-- What a statement and the books do not agree about. Each is here once, however often it is found.
CREATE TABLE discrepancies (
    id                   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind                 text NOT NULL CHECK (kind IN ('ONLY_THEIRS', 'ONLY_OURS', 'DIFFERENT')),
    provider_code        text NOT NULL REFERENCES providers (code),
    provider_reference   text NOT NULL CHECK (provider_reference <> ''),
    provider_transaction text NOT NULL CHECK (provider_transaction <> ''),
    -- What is not the same, separated by commas.
    differs              text NOT NULL,
    purchase_id          bigint,
    -- A person, and not the provider, has said that it was vended.
    is_by_person         boolean NOT NULL,
    found_at             timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- As the statement has it.
    vended_at            timestamptz,
    product              text CHECK (product IN ('ELECTRICITY', 'AIRTIME', 'WATER')),
    -- A phone number is personal data, and stays in the file.
    meter                text CHECK (meter IS NULL OR product <> 'AIRTIME'),
    currency             text CHECK (currency ~ '^[A-Z]{3}$'),
    net                  bigint CHECK (net > 0),
    CHECK ((kind = 'ONLY_THEIRS') = (purchase_id IS NULL)),
    CHECK ((kind = 'DIFFERENT') = (differs <> '')),
    CHECK (kind = 'ONLY_OURS' OR NOT is_by_person),
    CHECK (num_nulls(vended_at, product, currency, net) = CASE kind WHEN 'ONLY_OURS' THEN 4 ELSE 0 END)
);
CREATE UNIQUE INDEX discrepancies_once
    ON discrepancies (provider_code, provider_reference, provider_transaction, kind, differs);
CREATE TRIGGER discrepancies_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON discrepancies
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();

CREATE TABLE reconciliation_findings (
    reconciliation_id bigint NOT NULL REFERENCES reconciliations (id),
    discrepancy_id    bigint NOT NULL REFERENCES discrepancies (id),
    -- The first line of the file that shows it.
    line              bigint CHECK (line > 0),
    PRIMARY KEY (reconciliation_id, discrepancy_id)
);
CREATE INDEX reconciliation_findings_of_discrepancy ON reconciliation_findings (discrepancy_id);
CREATE TRIGGER reconciliation_findings_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON reconciliation_findings
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();

-- What a person decided about a discrepancy. An unmatched vend has decisions of its own.
CREATE TABLE discrepancy_decisions (
    discrepancy_id bigint PRIMARY KEY REFERENCES discrepancies (id),
    at             timestamptz NOT NULL DEFAULT now(),
    actor          text NOT NULL CHECK (length(actor) BETWEEN 1 AND 200),
    reason         text NOT NULL
);
CREATE TRIGGER discrepancy_decisions_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON discrepancy_decisions
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();

-- Purchases that a statement lists and that another statement may have had to list, because they lie at the edge of a period or
-- were open. Without them, the run of the next period could not tell a vend of yesterday from a vend that no statement has.
CREATE TABLE reconciliation_sightings (
    purchase_id       bigint PRIMARY KEY,
    reconciliation_id bigint NOT NULL REFERENCES reconciliations (id)
);
CREATE INDEX reconciliation_sightings_of_run ON reconciliation_sightings (reconciliation_id);

GRANT SELECT ON reconciliations, discrepancies, reconciliation_findings, discrepancy_decisions, reconciliation_sightings
    TO vendgate_operator;
GRANT SELECT ON reconciliations, discrepancies, discrepancy_decisions, unmatched_vend_decisions TO vendgate_worker;
-- A provider that sells nothing any more is not waited for.
GRANT SELECT (provider_code) ON offers TO vendgate_worker;
GRANT INSERT (provider_code, file_name, file_sha256, covers_from, covers_until, tolerance_s, actor, reason) ON reconciliations
    TO vendgate_operator;
GRANT UPDATE (lines, matched, still_open, only_theirs, different, only_ours) ON reconciliations TO vendgate_operator;
GRANT INSERT (kind, provider_code, provider_reference, provider_transaction, differs, purchase_id, is_by_person, vended_at, product,
    meter, currency, net) ON discrepancies TO vendgate_operator;
GRANT INSERT ON reconciliation_findings TO vendgate_operator;
GRANT INSERT (discrepancy_id, actor, reason) ON discrepancy_decisions TO vendgate_operator;
GRANT INSERT, DELETE ON reconciliation_sightings TO vendgate_operator;
