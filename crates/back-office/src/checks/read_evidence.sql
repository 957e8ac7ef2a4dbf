-- read_evidence
-- The evidence for each end: the attempt, the line of history, the provider's reply, or what an operator vouched for. A
-- reply is read only if there is no sealed token. A copied reply is not evidence, because sealing the same value twice
-- gives different bytes. What was erased or archived cannot be shown any more; only two functions of the database can say that
-- it was.
SELECT p.id, p.state, v.fact, p.archive_id IS NOT NULL AS is_archived,
    p.archive_id IS NOT NULL OR p.sealed_values_erased_at IS NOT NULL AS is_erased,
    p.token_key_id, p.sealed_token, r.key_id AS reply_key_id, r.sealed_reply,
    EXISTS (
        SELECT FROM attempts t
        WHERE t.purchase_id = p.id AND t.number = p.attempt AND t.provider_reference = p.provider_reference
    ) AS has_attempt,
    EXISTS (
        SELECT FROM audit_log l
        WHERE l.subject = 'purchase:' || p.id AND l.action = 'purchase.resolved'
            AND l.details ->> 'as' = CASE p.state WHEN 'SUCCESSFUL' THEN 'vended' ELSE 'not-vended' END
            AND l.details ->> 'provider_transaction' IS NOT DISTINCT FROM p.provider_transaction
    ) AS has_deed
FROM purchases p
LEFT JOIN LATERAL (
    SELECT fact FROM purchase_events WHERE purchase_id = p.id AND state = p.state ORDER BY id LIMIT 1
) v ON true
LEFT JOIN LATERAL (
    SELECT key_id, sealed_reply FROM provider_replies w
    WHERE w.purchase_id = p.id AND w.at = p.ended_at AND NOT EXISTS (
        SELECT FROM provider_replies o
        WHERE o.purchase_id = p.id AND o.sealed_reply = w.sealed_reply AND o.ctid <> w.ctid
    )
    LIMIT 1
) r ON p.state = 'SUCCESSFUL' AND p.sealed_token IS NULL
WHERE (p.id > $1 AND p.id <= $2 OR p.id = ANY ($3)) AND p.state IN ('SUCCESSFUL', 'FAILED')
