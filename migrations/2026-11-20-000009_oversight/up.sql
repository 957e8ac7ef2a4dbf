-- What the operator needs to look after the service, and the worker to keep house: what was decided about an incident,
-- and who may clear away what protects nobody any more.

-- What a person made of an incident. The incident itself stays as it was found.
CREATE TABLE incident_decisions (
    incident_id bigint PRIMARY KEY REFERENCES incidents (id),
    at          timestamptz NOT NULL DEFAULT now(),
    actor       text NOT NULL CHECK (length(actor) BETWEEN 1 AND 200),
    reason      text NOT NULL
);

CREATE TRIGGER incident_decisions_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON incident_decisions
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();
CREATE TRIGGER incidents_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON incidents
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();

GRANT SELECT ON incident_decisions TO vendgate_api;
GRANT INSERT ON incident_decisions TO vendgate_operator;

-- Housekeeping finds what is old without reading what is not.
CREATE INDEX access_tokens_by_end ON access_tokens (expires_at);
CREATE INDEX token_families_by_end ON token_families (expires_at);
CREATE INDEX closed_references_by_age ON closed_references (closed_at);

GRANT DELETE ON access_tokens, refresh_tokens, token_families, closed_references TO vendgate_worker;

-- A closed reference keeps an answer true for confirms that were under way, for well below a minute.
CREATE FUNCTION refuse_to_reopen_a_reference() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the reference was closed within the day' USING ERRCODE = 'restrict_violation';
END
$$;

CREATE TRIGGER closed_references_count_for_a_day BEFORE DELETE ON closed_references
    FOR EACH ROW WHEN (OLD.closed_at > now() - interval '1 day') EXECUTE FUNCTION refuse_to_reopen_a_reference();

-- Messages that nobody will get are few, and are looked for among all that were sent.
CREATE INDEX outbox_given_up ON outbox (given_up_at, purchase_id) WHERE given_up_at IS NOT NULL;
