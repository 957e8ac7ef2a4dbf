-- export_person
-- Everything that is stored about a person, in the names of the tables and columns. $1 are the purchases, $2 the identifiers
-- as stored. Of sealed values it says that they are there. Amounts are in minor units.
SELECT jsonb_build_object(
    'purchases', (
        SELECT coalesce(jsonb_agg(
            to_jsonb(p) - ARRAY['sealed_token', 'token_key_id', 'request_hash']
                || jsonb_build_object('has_sealed_token', p.sealed_token IS NOT NULL) ORDER BY p.id), '[]')
        FROM purchases p WHERE p.id = ANY ($1)
    ),
    'attempts', (
        SELECT coalesce(jsonb_agg(to_jsonb(t) ORDER BY t.purchase_id, t.number), '[]')
        FROM attempts t WHERE t.purchase_id = ANY ($1)
    ),
    'purchase_events', (
        SELECT coalesce(jsonb_agg(to_jsonb(v) ORDER BY v.purchase_id, v.id), '[]')
        FROM purchase_events v WHERE v.purchase_id = ANY ($1)
    ),
    'provider_replies', (
        SELECT coalesce(jsonb_agg(
            to_jsonb(r) - ARRAY['sealed_reply', 'key_id']
                || jsonb_build_object('sealed_bytes', octet_length(r.sealed_reply)) ORDER BY r.purchase_id, r.at), '[]')
        FROM provider_replies r WHERE r.purchase_id = ANY ($1)
    ),
    'journal_entries', (
        SELECT coalesce(jsonb_agg(to_jsonb(e) ORDER BY e.id), '[]')
        FROM journal_entries e WHERE e.purchase_id = ANY ($1)
    ),
    'incidents', (
        SELECT coalesce(jsonb_agg(
            to_jsonb(i) - ARRAY['sealed_token', 'token_key_id']
                || jsonb_build_object('has_sealed_token', i.sealed_token IS NOT NULL) ORDER BY i.id), '[]')
        FROM incidents i WHERE i.purchase_id = ANY ($1)
    ),
    'outbox', (
        SELECT coalesce(jsonb_agg(to_jsonb(m) ORDER BY m.purchase_id, m.recipient, m.channel), '[]')
        FROM outbox m WHERE m.purchase_id = ANY ($1)
    ),
    'repeated_messages', (
        SELECT coalesce(jsonb_agg(to_jsonb(m) - 'requested_by_login' ORDER BY m.purchase_id, m.number), '[]')
        FROM repeated_messages m WHERE m.purchase_id = ANY ($1) OR m.phone_number = ANY ($2)
    ),
    'certificates', (
        SELECT coalesce(jsonb_agg(to_jsonb(c) - ARRAY['sealed_salt', 'salt_key_id'] ORDER BY c.purchase_id), '[]')
        FROM certificates c WHERE c.purchase_id = ANY ($1)
    ),
    'batch_lines', (
        SELECT coalesce(jsonb_agg(to_jsonb(b) ORDER BY b.batch_id, b.number), '[]')
        FROM batch_lines b
        WHERE b.purchase_id = ANY ($1) OR b.subscriber_identifier = ANY ($2) OR b.beneficiary_phone_number = ANY ($2)
    ),
    'refused_confirms', (
        SELECT coalesce(jsonb_agg(to_jsonb(c) ORDER BY c.id), '[]')
        FROM refused_confirms c WHERE c.subscriber_identifier = ANY ($2)
    ),
    'closed_references', (
        SELECT coalesce(jsonb_agg(to_jsonb(x) ORDER BY x.closed_at), '[]')
        FROM closed_references x WHERE x.subscriber_identifier = ANY ($2)
    ),
    'allowed_subscribers', (
        SELECT coalesce(jsonb_agg(to_jsonb(l) ORDER BY l.organisation_id), '[]')
        FROM allowed_subscribers l WHERE l.subscriber_identifier = ANY ($2)
    ),
    'unmatched_vends', (
        SELECT coalesce(jsonb_agg(
            to_jsonb(u) - ARRAY['sealed_token', 'token_key_id']
                || jsonb_build_object('has_sealed_token', u.sealed_token IS NOT NULL) ORDER BY u.id), '[]')
        FROM unmatched_vends u
        WHERE u.subscriber_identifier = ANY ($2 || ARRAY (SELECT pseudonym(i) FROM unnest($2) AS i))
    ),
    'discrepancies', (
        SELECT coalesce(jsonb_agg(to_jsonb(d) ORDER BY d.id), '[]')
        FROM discrepancies d WHERE d.purchase_id = ANY ($1) OR d.meter = ANY ($2)
    ),
    'users', (
        SELECT coalesce(jsonb_agg(to_jsonb(s) ORDER BY s.id), '[]')
        FROM (
            SELECT id, organisation_id, username, full_name, phone_number, email, role, status, created_at FROM users
        ) AS s
        WHERE s.phone_number = ANY ($2)
    )
) AS data
