-- close_references
-- Run after the wallets are locked, so that no reserve of the organisation is between its look at the closed references and
-- its commit. A reference is closed only if the purchase that the answer is about is still the newest. An existing rest is
-- never shortened. Two answers about one reference close it once.
WITH asked AS MATERIALIZED (
    SELECT k.subscriber, k.reference, k.known, k.rest, k.ordinal,
        coalesce((
            SELECT p.id FROM purchases p
            WHERE p.organisation_id = $1 AND p.subscriber_identifier = k.subscriber
                AND hashtext(p.external_reference) = hashtext(k.reference) AND p.external_reference = k.reference
                AND (k.product IS NULL OR p.product = k.product)
            ORDER BY p.reserved_no DESC LIMIT 1
        ), (
            SELECT p.id FROM purchases p
            WHERE p.organisation_id = $1 AND p.subscriber_identifier = pseudonym(k.subscriber)
                AND hashtext(p.external_reference) = hashtext(k.reference) AND p.external_reference = k.reference
                AND (k.product IS NULL OR p.product = k.product)
            ORDER BY p.reserved_no DESC LIMIT 1
        )) AS newest
    FROM unnest($2, $3, $4, $5, $6)
        WITH ORDINALITY AS k (subscriber, reference, product, known, rest, ordinal)
), closed AS (
    INSERT INTO closed_references AS c
        (organisation_id, subscriber_identifier, external_reference, closed_at, rests_until)
    SELECT $1, a.subscriber, a.reference, t.at, t.at + max(a.rest) * interval '1 microsecond'
    FROM asked a CROSS JOIN clock_timestamp() AS t (at)
    WHERE a.newest IS NOT DISTINCT FROM a.known
    GROUP BY a.subscriber, a.reference, t.at
    ORDER BY a.subscriber, a.reference
    ON CONFLICT (organisation_id, subscriber_identifier, external_reference)
        DO UPDATE SET closed_at = excluded.closed_at, rests_until = greatest(c.rests_until, excluded.rests_until)
)
SELECT a.newest FROM asked a ORDER BY a.ordinal
