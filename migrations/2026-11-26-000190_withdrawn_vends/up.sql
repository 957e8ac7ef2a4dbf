-- Expand. An unmatched vend may turn out never to have been vended, or may have been entered by mistake. It is withdrawn: its entry
-- is reversed, once, and only if no wallet was charged for it. And an order of another provider is never entered.

CREATE OR REPLACE FUNCTION number_unmatched_vend() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF EXISTS (
        SELECT FROM providers p
        JOIN attempts a ON a.provider_code = p.code AND a.provider_reference = NEW.provider_reference
    ) THEN
        RAISE EXCEPTION 'the order % of % is known', NEW.provider_reference, NEW.provider_code
            USING ERRCODE = 'check_violation', CONSTRAINT = 'unmatched_vends_are_unknown';
    END IF;
    NEW.entry_id := nextval('journal_entry_ids');
    NEW.entered_at := clock_timestamp();
    RETURN NEW;
END
$$;

-- As before, and the reversal of an unmatched vend is of its provider.
CREATE OR REPLACE FUNCTION moves_beside_wallets(after_entry bigint, until_entry bigint)
RETURNS TABLE (account_id bigint, organisation_id bigint, kind text, provider_code text, product text, moves bigint, amount bigint)
LANGUAGE sql STABLE
SET search_path = pg_catalog, public, pg_temp SET enable_hashjoin = off SET enable_mergejoin = off AS $$
    SELECT s.account_id, p.organisation_id, e.kind, coalesce(p.provider_code, u.provider_code, o.provider_code, ''),
        coalesce(p.product, u.product, ''), count(*), sum(s.amount)::bigint
    FROM journal_entries e
    JOIN postings m ON m.entry_id = e.id
    CROSS JOIN LATERAL (VALUES (m.credit_account_id, m.amount), (m.debit_account_id, -m.amount)) AS s (account_id, amount)
    LEFT JOIN purchases p ON p.id = e.purchase_id
    LEFT JOIN reversals v ON e.kind = 'UNMATCHED_VEND' AND v.reversed_by = e.id
    LEFT JOIN unmatched_vends u ON e.kind = 'UNMATCHED_VEND' AND u.entry_id = coalesce(v.entry_id, e.id)
    LEFT JOIN payouts o ON e.kind = 'PAYOUT' AND o.entry_id = e.id
    WHERE e.kind NOT IN ('SETTLE', 'TOP_UP', 'ADJUST') AND e.id > after_entry AND e.id <= until_entry
    GROUP BY 1, 2, 3, 4, 5
$$;

-- Withdraws all these vends, or none of them, each with its line in the audit log. One that was waived may be withdrawn too. It stays
-- in the list, so a statement that has it cannot enter it again.
CREATE FUNCTION withdraw_unmatched_vends(vends bigint[], actor text, reason text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    vend unmatched_vends;
    undone_by bigint;
BEGIN
    PERFORM require_role('finance');
    -- Before the numbers and times of its entries.
    PERFORM share_trial_balances();
    IF EXISTS (SELECT FROM unnest(vends) AS n (id) WHERE NOT EXISTS (SELECT FROM unmatched_vends u WHERE u.id = n.id)) THEN
        RAISE EXCEPTION 'one of % is no unmatched vend', vends
            USING ERRCODE = 'check_violation', CONSTRAINT = 'withdrawn_vends_are_not_charged';
    END IF;
    FOR vend IN SELECT u.* FROM unmatched_vends u WHERE u.id = ANY (vends) ORDER BY u.id LOOP
        -- It waits for another person who decides about it now, and the next statement sees what was decided.
        INSERT INTO unmatched_vend_decisions (unmatched_vend_id, actor, reason)
        VALUES (vend.id, withdraw_unmatched_vends.actor, withdraw_unmatched_vends.reason)
        ON CONFLICT (unmatched_vend_id) DO NOTHING;
        IF EXISTS (SELECT FROM unmatched_vend_decisions d WHERE d.unmatched_vend_id = vend.id AND d.entry_id IS NOT NULL) THEN
            RAISE EXCEPTION 'a wallet was charged for unmatched vend %', vend.id
                USING ERRCODE = 'check_violation', CONSTRAINT = 'withdrawn_vends_are_not_charged';
        END IF;
        undone_by := nextval('journal_entry_ids');
        -- Its key refuses a second time.
        INSERT INTO reversals (entry_id, reversed_by) VALUES (vend.entry_id, undone_by);
        INSERT INTO journal_entries (id, kind, posted_at) VALUES (undone_by, 'UNMATCHED_VEND', clock_timestamp());
        INSERT INTO postings (entry_id, debit_account_id, credit_account_id, currency, amount)
        SELECT undone_by, p.credit_account_id, p.debit_account_id, p.currency, p.amount
        FROM postings p WHERE p.entry_id = vend.entry_id;
        INSERT INTO audit_log (actor, action, subject, reason, details)
        VALUES (withdraw_unmatched_vends.actor, 'unmatched_vend.withdrawn', 'unmatched_vend:' || vend.id,
            withdraw_unmatched_vends.reason, jsonb_build_object('entry', undone_by, 'reverses', vend.entry_id));
    END LOOP;
END
$$;
GRANT EXECUTE ON FUNCTION withdraw_unmatched_vends TO vendgate_operator, vendgate_finance;
