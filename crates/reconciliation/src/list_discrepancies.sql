-- list_discrepancies
-- Each with what the statement and the books have. The decision about an unmatched vend is the decision about its discrepancy.
SELECT d.id, d.kind, d.provider_code, d.provider_reference, d.provider_transaction, d.differs, d.is_by_person, f.line,
    (SELECT min(o.reconciliation_id) FROM reconciliation_findings o WHERE o.discrepancy_id = d.id) AS first_found_in,
    d.vended_at, d.product, d.meter, d.currency, d.net,
    p.id AS our_purchase, p.state AS our_state, p.created_at AS our_created_at, p.provider_transaction AS our_transaction,
    p.product AS our_product, p.currency AS our_currency, p.net AS our_net,
    CASE WHEN p.product <> 'AIRTIME' THEN p.subscriber_identifier END AS our_meter,
    u.id AS unmatched_vend, coalesce(x.at, e.at) AS decided_at, coalesce(x.actor, e.actor) AS decided_by,
    coalesce(x.reason, e.reason) AS decided_because
FROM discrepancies d
LEFT JOIN reconciliation_findings f ON f.discrepancy_id = d.id AND f.reconciliation_id = $1
LEFT JOIN purchases p ON p.id = d.purchase_id
LEFT JOIN unmatched_vends u
    ON d.kind = 'ONLY_THEIRS' AND u.provider_code = d.provider_code AND u.provider_reference = d.provider_reference
LEFT JOIN unmatched_vend_decisions e ON e.unmatched_vend_id = u.id
LEFT JOIN discrepancy_decisions x ON x.discrepancy_id = d.id
WHERE ($1::bigint IS NULL OR f.discrepancy_id IS NOT NULL)
    AND ($2 OR x.discrepancy_id IS NULL AND e.unmatched_vend_id IS NULL)
    AND ($3::text IS NULL OR d.provider_code = $3)
    AND d.id > $4
    AND ($6::bigint[] IS NULL OR d.id = ANY ($6))
ORDER BY d.id LIMIT $5
