-- list_events
-- The events of organisation $1 after position ($2, $3). At most $6 of them are examined, and at most $5 returned, of the types $4
-- if there are any. No transaction below the horizon is open any more, so nothing can come before what is read here. There is
-- always a row: it says how far was examined, and whether the reader has missed deleted events.
WITH feed AS MATERIALIZED (
    SELECT n.base + pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS horizon FROM feed_numbering n
), examined AS MATERIALIZED (
    SELECT e.* FROM feed_events e
    WHERE e.organisation_id = $1 AND (e.transaction_no, e.id) > ($2, $3) AND e.transaction_no < (SELECT horizon FROM feed)
    ORDER BY e.transaction_no, e.id LIMIT $6
), page AS MATERIALIZED (
    SELECT * FROM examined WHERE cardinality($4) = 0 OR kind = ANY ($4) ORDER BY transaction_no, id LIMIT $5
), reached AS (
    SELECT max(transaction_no) AS transaction_no, (array_agg(id ORDER BY transaction_no DESC, id DESC))[1] AS id,
        count(*) AS examined
    FROM examined
)
SELECT reached.transaction_no AS reached_transaction_no, reached.id AS reached_id, reached.examined,
    coalesce((d.transaction_no, d.id) > ($2, $3), false) AS is_behind,
    page.transaction_no, page.id, page.kind, page.at, page.details, page.purchase_id,
    p.reference, p.external_reference, p.account_id, p.product, p.provider_code, p.subscriber_identifier, p.currency, p.entry, p.total
FROM feed
CROSS JOIN reached
LEFT JOIN feed_deletions d ON d.organisation_id = $1
LEFT JOIN page ON true
LEFT JOIN purchases p ON p.id = page.purchase_id
ORDER BY page.transaction_no, page.id
