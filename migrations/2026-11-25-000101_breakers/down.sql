-- As migration 64 has it.
CREATE OR REPLACE FUNCTION tell_feed_of_pause(pause provider_pauses, kind text, at timestamptz) RETURNS void LANGUAGE sql
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
-- Ended by its trigger, so that the feed tells of it. Without breakers no worker would move its end.
DELETE FROM provider_pauses WHERE by_breaker;
DROP TRIGGER provider_pauses_count_anew ON provider_pauses;
DROP FUNCTION count_provider_answers_anew;
DROP FUNCTION end_breaker_pause;
DROP FUNCTION take_breaker_trials;
DROP FUNCTION open_breakers;
DROP FUNCTION breaker_pause;
DROP FUNCTION count_provider_answers;
ALTER TABLE provider_pauses DROP COLUMN by_breaker;
DROP TABLE provider_answers;
DROP TABLE provider_breakers;
