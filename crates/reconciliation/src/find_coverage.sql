-- find_coverage
-- The time without gaps around this period that statements of the provider cover. An older run does not count, because the purchases
-- that it saw at its edges may be forgotten.
SELECT lower(c.covered) AS covers_from, upper(c.covered) AS covers_until
FROM (
    SELECT unnest(range_agg(x.covered)) AS covered
    FROM (
        SELECT tstzrange($2, $3) AS covered
        UNION ALL
        SELECT tstzrange(r.covers_from, r.covers_until)
        FROM reconciliations r
        WHERE r.provider_code = $1 AND r.finished_at IS NOT NULL AND r.started_at > now() - interval '35 days'
    ) x
) c
WHERE c.covered @> tstzrange($2, $3)
