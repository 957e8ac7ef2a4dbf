-- Expand. A provider's statement may have a vend of a purchase that has failed here, for example because a person decided that it was
-- not vended. It becomes an incident, once: the books owe the provider for it, out of suspense.

-- Opens the incident of a listed vend, with its line in the audit log. The statement must have the amount of the purchase, the purchase
-- must have no incident yet, and the vend must not be that of another purchase.
CREATE FUNCTION enter_late_vend(provider text, reference text, transaction text, currency text, minor bigint, token_key_id integer,
    sealed_token bytea, actor text, reason text, OUT incident bigint)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    purchase purchases;
BEGIN
    PERFORM require_role('finance');
    -- Before the number and time of its entry.
    PERFORM share_trial_balances();
    SELECT p.* INTO purchase FROM attempts a JOIN purchases p ON p.id = a.purchase_id
    WHERE a.provider_code = provider AND a.provider_reference = reference
    FOR NO KEY UPDATE OF p;
    -- The lock of a person who enters the same vend for another purchase.
    PERFORM pg_advisory_xact_lock(hashtextextended('vendgate.vend ' || transaction, 0));
    IF (
        purchase.state = 'FAILED' AND purchase.currency = currency AND purchase.net = minor
        AND NOT EXISTS (SELECT FROM incidents i WHERE i.purchase_id = purchase.id)
        AND NOT EXISTS (
            SELECT FROM purchases q
            WHERE q.provider_transaction = transaction AND q.state = 'SUCCESSFUL' AND q.provider_code = provider
        )
        AND NOT EXISTS (
            SELECT FROM incidents i JOIN purchases q ON q.id = i.purchase_id
            WHERE i.provider_transaction = transaction AND q.provider_code = provider
        )
    ) IS NOT TRUE THEN
        RAISE EXCEPTION 'the vend % of % is no late vend', reference, provider
            USING ERRCODE = 'check_violation', CONSTRAINT = 'late_vends_are_entered_once';
    END IF;
    INSERT INTO incidents AS i (purchase_id, kind, at, provider_transaction, token_key_id, sealed_token)
    VALUES (purchase.id, 'LATE_VEND', clock_timestamp(), transaction, token_key_id, sealed_token)
    RETURNING i.id INTO incident;
    INSERT INTO audit_log (actor, action, organisation_id, subject, reason, details)
    VALUES (actor, 'incident.entered', purchase.organisation_id, 'incident:' || incident, reason, jsonb_build_object(
        'purchase', purchase.id, 'provider', provider, 'reference', reference, 'provider_transaction', transaction));
END
$$;
GRANT EXECUTE ON FUNCTION enter_late_vend TO vendgate_operator, vendgate_finance;
