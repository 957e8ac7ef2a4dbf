-- Expand. The feed tells organisations that the sales of a provider are paused, and that they go on.
--
-- What happens by a command is told by its own transaction. A pause that begins or ends by itself is told by a worker, a little later. The
-- row is the guard, however many workers look: its beginning is told by the statement that marks it, its end by the one that deletes it.

ALTER TABLE provider_pauses
    -- Null: its beginning is still to be told. NEVER: it was over when it was entered.
    ADD COLUMN told text CHECK (told IN ('BEGUN', 'NEVER'));
UPDATE provider_pauses SET told = 'NEVER' WHERE ends_at <= clock_timestamp();

-- Tells each organisation that has an offer which the pause covers.
CREATE FUNCTION tell_feed_of_pause(pause provider_pauses, kind text, at timestamptz) RETURNS void LANGUAGE sql
SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT tell_feed(covered.organisation_id, kind, at, jsonb_build_object(
        'provider', jsonb_build_object('code', p.code, 'name', p.name),
        'product_types', to_jsonb(covered.products),
        'pause', CASE kind
            WHEN 'provider.paused' THEN jsonb_build_object('id', pause.id, 'notice', pause.notice,
                'resumes_at', to_char(pause.ends_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
            ELSE jsonb_build_object('id', pause.id)
        END,
        'still_paused', CASE kind WHEN 'provider.resumed' THEN to_jsonb(coalesce(covered.still, '{}')) END))
    FROM providers p
    CROSS JOIN LATERAL (
        SELECT o.organisation_id, array_agg(DISTINCT o.product ORDER BY o.product) AS products,
            array_agg(DISTINCT o.product ORDER BY o.product) FILTER (WHERE EXISTS (
                SELECT FROM provider_pauses other
                WHERE other.id <> pause.id AND other.provider_code = o.provider_code AND (other.product IS NULL OR other.product = o.product)
                    AND other.starts_at <= clock_timestamp() AND (other.ends_at IS NULL OR other.ends_at > clock_timestamp())
            )) AS still
        FROM offers o
        WHERE o.provider_code = p.code AND (pause.product IS NULL OR o.product = pause.product)
        GROUP BY o.organisation_id
    ) AS covered
    WHERE p.code = pause.provider_code
$$;

-- Triggers, so that programs of an earlier release tell it too.
CREATE FUNCTION tell_feed_of_new_pause() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.ends_at <= clock_timestamp() THEN
        NEW.told := 'NEVER';
    ELSIF NEW.starts_at <= clock_timestamp() THEN
        NEW.told := 'BEGUN';
        PERFORM tell_feed_of_pause(NEW, 'provider.paused', clock_timestamp());
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER provider_pauses_tell_feed BEFORE INSERT ON provider_pauses
    FOR EACH ROW EXECUTE FUNCTION tell_feed_of_new_pause();

CREATE FUNCTION tell_feed_of_ended_pause() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF OLD.told = 'NEVER' OR OLD.told IS NULL AND OLD.starts_at > clock_timestamp() THEN
        RETURN NULL;
    END IF;
    IF OLD.told IS NULL THEN
        PERFORM tell_feed_of_pause(OLD, 'provider.paused', OLD.starts_at);
    END IF;
    PERFORM tell_feed_of_pause(OLD, 'provider.resumed', least(OLD.ends_at, clock_timestamp()));
    RETURN NULL;
END
$$;
CREATE TRIGGER provider_pauses_tell_feed_of_their_end AFTER DELETE ON provider_pauses
    FOR EACH ROW EXECUTE FUNCTION tell_feed_of_ended_pause();

-- Tells of the pauses that have begun or ended by themselves. Returns how many changes it told of.
CREATE FUNCTION tell_feed_of_pauses() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    pause provider_pauses;
    begun bigint := 0;
    ended bigint;
BEGIN
    FOR pause IN
        UPDATE provider_pauses SET told = 'BEGUN' WHERE told IS NULL AND starts_at <= clock_timestamp() RETURNING *
    LOOP
        PERFORM tell_feed_of_pause(pause, 'provider.paused', pause.starts_at);
        begun := begun + 1;
    END LOOP;
    DELETE FROM provider_pauses WHERE ends_at <= clock_timestamp();
    GET DIAGNOSTICS ended = ROW_COUNT;
    RETURN begun + ended;
END
$$;
GRANT EXECUTE ON FUNCTION tell_feed_of_pauses TO vendgate_worker;
