-- The entries of a look: the new ones, a stretch of the old ones, and the suspects. Each range is read by itself. An OR of them makes the
-- planner walk the whole journal.
WITH entry AS MATERIALIZED (
    SELECT id, kind, purchase_id, reference, audit_id FROM journal_entries WHERE id > $1 AND id <= $2
    UNION
    SELECT id, kind, purchase_id, reference, audit_id FROM journal_entries WHERE id > $3 AND id <= $4
    UNION
    SELECT id, kind, purchase_id, reference, audit_id FROM journal_entries WHERE id = ANY ($5)
)
