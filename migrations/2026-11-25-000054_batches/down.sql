CREATE OR REPLACE FUNCTION number_feed_here() RETURNS void LANGUAGE plpgsql SECURITY DEFINER
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

CREATE OR REPLACE FUNCTION erase_person(identifiers text[], purchases bigint[], finish boolean, actor text, reason text, OUT erased bigint)
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
        -- Only rows of now: a number here is deleted with its message, 30 days after it was sent.
        UPDATE repeated_messages m SET phone_number = NULL,
            given_up_at = CASE WHEN m.sent_at IS NULL THEN coalesce(m.given_up_at, now()) END,
            given_up_because = CASE WHEN m.sent_at IS NULL THEN coalesce(m.given_up_because, 'TOO_OLD') END
        WHERE m.phone_number = ANY (identifiers);
    END IF;
    INSERT INTO audit_log (actor, action, subject, reason, details)
    VALUES (actor, 'person.erased', 'person:' || pseudonyms[1], reason,
        jsonb_build_object('pseudonyms', pseudonyms, 'purchases', erased, 'refused_confirms', refusals));
END
$$;

DROP TRIGGER purchases_erase_their_batch_line ON purchases;
DROP FUNCTION erase_batch_line;
DROP TABLE batch_lines;
DROP TABLE batches;
DROP FUNCTION log_a_batch;
DROP FUNCTION guard_batch;
DROP FUNCTION count_ended_batch_lines;
DROP FUNCTION guard_batch_line;
DROP FUNCTION batch_line_key;
