-- Expand. Two people could request the same payment, under one id of the bank, and both requests waited; so did two contrary declarations
-- of one provider, and whoever approved last decided. A second one is refused until the first is decided or has expired.

-- What one request at a time may wait about. Purchases have `open_for`.
CREATE FUNCTION subject_of_request(act text, arguments jsonb) RETURNS text LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT CASE
        WHEN $1 IN ('TOP_UP', 'ADJUST') THEN 'payment:' || ($2 ->> 'reference')
        WHEN $1 = 'REVERSE' THEN 'entry:' || ($2 ->> 'entry')
        WHEN $1 = 'DECLARE' THEN 'provider:' || ($2 ->> 'code')
    END
$$;

ALTER TABLE approval_requests ADD COLUMN open_about text;
GRANT SELECT (open_about) ON approval_requests TO vendgate_support;
UPDATE approval_requests r SET open_about = first.about
FROM (
    SELECT subject_of_request(q.act, q.arguments) AS about, min(q.id) AS id
    FROM approval_requests q LEFT JOIN approval_decisions d ON d.request_id = q.id
    WHERE d.request_id IS NULL AND q.expires_at > clock_timestamp()
    GROUP BY 1
) AS first
WHERE r.id = first.id AND first.about IS NOT NULL;
CREATE UNIQUE INDEX approval_requests_one_open_per_subject ON approval_requests (open_about) WHERE open_about IS NOT NULL;

CREATE FUNCTION open_request() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    UPDATE approval_requests r SET open_about = NULL WHERE r.open_about IS NOT NULL AND r.expires_at <= clock_timestamp();
    NEW.open_about := subject_of_request(NEW.act, NEW.arguments);
    RETURN NEW;
END
$$;
CREATE TRIGGER approval_requests_open_one_per_subject BEFORE INSERT ON approval_requests
    FOR EACH ROW EXECUTE FUNCTION open_request();

CREATE FUNCTION end_request() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    UPDATE approval_requests r SET open_about = NULL WHERE r.id = NEW.request_id AND r.open_about IS NOT NULL;
    RETURN NULL;
END
$$;
CREATE TRIGGER approval_decisions_end_requests AFTER INSERT ON approval_decisions
    FOR EACH ROW EXECUTE FUNCTION end_request();
