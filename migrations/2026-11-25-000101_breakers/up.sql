-- Expand. A circuit breaker for the sales of a provider that answers nothing. Where an operator has declared one, all processes add
-- what they count of the provider's answers to the same rows, and a worker pauses the sales when too many calls stay without an answer.
--
-- It stops what is offered, and never what is open: the pause is a row of provider_pauses, which neither a retry nor a worker reads. The
-- functions below are the only way in which a program makes or ends such a row, and they touch no pause of an operator.

CREATE TABLE provider_breakers (
    provider_code    text PRIMARY KEY REFERENCES providers (code),
    -- It opens when this share of the calls has no answer …
    silent_percent   smallint NOT NULL CHECK (silent_percent BETWEEN 1 AND 100),
    -- … of at least so many calls …
    calls_min        integer NOT NULL CHECK (calls_min BETWEEN 1 AND 100000),
    -- … that have ended within this time.
    within_s         integer NOT NULL CHECK (within_s BETWEEN 10 AND 600),
    -- How long the sales are paused before the provider is tried.
    pause_s          integer NOT NULL CHECK (pause_s BETWEEN 1 AND 3600),
    -- What integrators read about the pause.
    notice           text CHECK (char_length(notice) BETWEEN 1 AND 500),
    -- The subscriber for whom the provider is asked whether it is there again. Null: it is not asked, and the pause ends by itself.
    trial_product    text REFERENCES products (product),
    trial_subscriber text CHECK (char_length(trial_subscriber) BETWEEN 1 AND 100),
    -- Calls that began before this moment do not count.
    counts_since     timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- How often it has opened in a row: each time within ten minutes of the end of the pause before.
    openings         integer NOT NULL DEFAULT 0,
    opened_at        timestamptz,
    CONSTRAINT provider_breakers_trial_is_whole CHECK ((trial_product IS NULL) = (trial_subscriber IS NULL))
);
CREATE INDEX provider_breakers_of_trial_product ON provider_breakers (trial_product);

-- What all processes together have counted, in steps of five seconds. Two kinds, because a provider may answer questions and no vends.
CREATE TABLE provider_answers (
    provider_code text NOT NULL REFERENCES provider_breakers (provider_code) ON DELETE CASCADE,
    kind          text NOT NULL CHECK (kind IN ('QUESTION', 'VEND')),
    -- The beginning of the five seconds in which the counts came here.
    told_at       timestamptz NOT NULL,
    answered      bigint NOT NULL CHECK (answered >= 0),
    silent        bigint NOT NULL CHECK (silent >= 0),
    PRIMARY KEY (provider_code, kind, told_at)
);

-- A pause of the breaker always has an end, which a worker moves: while no worker runs, no offer stays away.
ALTER TABLE provider_pauses
    ADD COLUMN by_breaker boolean NOT NULL DEFAULT false,
    ADD CONSTRAINT provider_pauses_of_breakers_end CHECK (NOT by_breaker OR (ends_at IS NOT NULL AND product IS NULL));
CREATE UNIQUE INDEX provider_pauses_of_breakers ON provider_pauses (provider_code) WHERE by_breaker;

-- Adds what a process has counted. A call that began before the last pause ended says nothing about the time after it, and does not count.
-- Returns whether any breaker is declared, so that a process counts only where that is of use.
CREATE FUNCTION count_provider_answers(providers text[], kinds text[], ages_ms bigint[], answered bigint[], silent bigint[])
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    -- The breaker before its counts, and all in one order, so that no two sessions wait for each other.
    PERFORM FROM provider_breakers b WHERE b.provider_code = ANY (providers) ORDER BY b.provider_code FOR KEY SHARE;
    INSERT INTO provider_answers AS kept (provider_code, kind, told_at, answered, silent)
    SELECT b.provider_code, c.kind, date_bin('5 s', clock_timestamp(), 'epoch'), sum(c.answered), sum(c.silent)
    FROM unnest(providers, kinds, ages_ms, count_provider_answers.answered, count_provider_answers.silent)
        AS c (provider, kind, age_ms, answered, silent)
    JOIN provider_breakers b ON b.provider_code = c.provider
    WHERE clock_timestamp() - c.age_ms * interval '1 ms' >= b.counts_since
    GROUP BY 1, 2, 3
    ORDER BY 1, 2, 3
    ON CONFLICT (provider_code, kind, told_at) DO UPDATE
        SET answered = kept.answered + excluded.answered, silent = kept.silent + excluded.silent;
    RETURN EXISTS (SELECT FROM provider_breakers);
END
$$;

-- Pauses the sales of each provider that has been silent too often. Any number of workers may call it at once. The row of the breaker is
-- locked before the row of its pause is written, and a pause that exists is left alone, even if it is over and not deleted yet.
CREATE FUNCTION open_breakers() RETURNS TABLE (provider text, kind text, calls bigint, silent bigint, ends_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    b provider_breakers;
    is_again boolean;
BEGIN
    FOR b IN SELECT * FROM provider_breakers ORDER BY provider_code FOR NO KEY UPDATE SKIP LOCKED LOOP
        CONTINUE WHEN EXISTS (
            SELECT FROM provider_pauses p
            WHERE p.provider_code = b.provider_code AND (p.by_breaker OR p.product IS NULL AND p.starts_at <= clock_timestamp()
                AND (p.ends_at IS NULL OR p.ends_at > clock_timestamp()))
        );
        -- Soon after a pause of its own, a quarter of the calls is enough to see that nothing has changed.
        is_again := b.openings > 0 AND b.counts_since > clock_timestamp() - interval '10 min';
        SELECT b.provider_code, s.kind, s.calls, s.silent
        INTO open_breakers.provider, open_breakers.kind, open_breakers.calls, open_breakers.silent
        FROM (
            SELECT a.kind, sum(a.answered + a.silent)::bigint AS calls, sum(a.silent)::bigint AS silent
            FROM provider_answers a
            WHERE a.provider_code = b.provider_code AND a.told_at > clock_timestamp() - b.within_s * interval '1 s'
            GROUP BY a.kind
        ) AS s
        WHERE s.calls >= CASE WHEN is_again THEN (b.calls_min + 3) / 4 ELSE b.calls_min END
            AND s.silent * 100 >= b.silent_percent * s.calls
        ORDER BY s.silent DESC, s.kind
        LIMIT 1;
        CONTINUE WHEN NOT FOUND;
        UPDATE provider_breakers o
        SET openings = CASE WHEN is_again THEN b.openings + 1 ELSE 1 END, opened_at = clock_timestamp()
        WHERE o.provider_code = b.provider_code
        RETURNING o.openings INTO b.openings;
        INSERT INTO provider_pauses AS p (provider_code, starts_at, ends_at, notice, by_breaker)
        SELECT b.provider_code, at, at + breaker_pause(b), b.notice, true FROM clock_timestamp() AS at
        RETURNING p.ends_at INTO open_breakers.ends_at;
        RETURN NEXT;
    END LOOP;
    -- Older than any time within which a breaker counts.
    DELETE FROM provider_answers a WHERE a.told_at < clock_timestamp() - interval '15 min';
END
$$;

-- How long a pause of the breaker lasts if no worker moves its end. It doubles with each opening in a row, up to a quarter of an hour. Where
-- the provider is tried, there is time for a trial before the end.
CREATE FUNCTION breaker_pause(b provider_breakers) RETURNS interval LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT interval '1 s' * (
        greatest(b.pause_s, least(900, b.pause_s * 2 ^ least(b.openings - 1, 10))) + CASE WHEN b.trial_subscriber IS NULL THEN 0 ELSE 30 END)
$$;

-- Takes the trials that are due: each pause of a breaker that would end within half a minute goes on for its length once more, and the
-- worker that has moved its end asks the provider. If that worker dies, the next trial is due after that length; if all do, the pause ends.
CREATE FUNCTION take_breaker_trials(connected text[])
RETURNS TABLE (pause bigint, provider text, product text, subscriber text) LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
    UPDATE provider_pauses p
    SET ends_at = clock_timestamp() + (b.pause_s + 30) * interval '1 s'
    FROM provider_breakers b
    WHERE b.provider_code = p.provider_code AND p.by_breaker AND p.provider_code = ANY (connected) AND b.trial_subscriber IS NOT NULL
        AND p.ends_at > clock_timestamp() AND p.ends_at <= clock_timestamp() + interval '30 s'
    RETURNING p.id, p.provider_code, b.trial_product, b.trial_subscriber
$$;

-- Ends a pause of a breaker, because the provider has answered a trial. Returns whether it was still there.
CREATE FUNCTION end_breaker_pause(answered bigint) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    DELETE FROM provider_pauses p WHERE p.id = answered AND p.by_breaker;
    RETURN FOUND;
END
$$;

-- An operator, a trial or its own end has ended it: from here on the breaker counts anew.
CREATE FUNCTION count_provider_answers_anew() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    UPDATE provider_breakers b SET counts_since = clock_timestamp() WHERE b.provider_code = OLD.provider_code;
    DELETE FROM provider_answers a WHERE a.provider_code = OLD.provider_code;
    RETURN NULL;
END
$$;
CREATE TRIGGER provider_pauses_count_anew AFTER DELETE ON provider_pauses
    FOR EACH ROW WHEN (OLD.by_breaker) EXECUTE FUNCTION count_provider_answers_anew();

-- As migration 64 has it, and the end of a breaker's pause is not told: it is moved while the provider stays silent.
CREATE OR REPLACE FUNCTION tell_feed_of_pause(pause provider_pauses, kind text, at timestamptz) RETURNS void LANGUAGE sql
SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT tell_feed(covered.organisation_id, kind, at, jsonb_build_object(
        'provider', jsonb_build_object('code', p.code, 'name', p.name),
        'product_types', to_jsonb(covered.products),
        'pause', CASE kind
            WHEN 'provider.paused' THEN jsonb_build_object('id', pause.id, 'notice', pause.notice, 'resumes_at',
                CASE WHEN NOT pause.by_breaker THEN to_char(pause.ends_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') END)
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

GRANT SELECT ON provider_breakers
    TO vendgate_worker, vendgate_operator, vendgate_support, vendgate_finance, vendgate_administrator;
GRANT INSERT (provider_code, silent_percent, calls_min, within_s, pause_s, notice, trial_product, trial_subscriber), DELETE,
    UPDATE (silent_percent, calls_min, within_s, pause_s, notice, trial_product, trial_subscriber) ON provider_breakers
    TO vendgate_operator, vendgate_administrator;
GRANT EXECUTE ON FUNCTION count_provider_answers TO vendgate_api, vendgate_worker;
GRANT EXECUTE ON FUNCTION open_breakers, take_breaker_trials, end_breaker_pause TO vendgate_worker;
