-- Expand. A payment that an operator entered by mistake is reversed: the same amount goes back between the same accounts, once.
CREATE TABLE reversals (
    -- The entry that is undone. An entry is undone once.
    entry_id    bigint PRIMARY KEY,
    -- The entry that undoes it.
    reversed_by bigint NOT NULL UNIQUE
);
CREATE TRIGGER reversals_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON reversals
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();
GRANT SELECT ON reversals TO vendgate_operator;

-- Undoes one payment or correction, with its line in the audit log. A reversal is not reversed: the payment is entered again. Nor
-- is the charge of unmatched vends, because they would be decided and unpaid.
CREATE FUNCTION reverse_payment(entry bigint, actor text, reason text, OUT entry_id bigint, OUT entry_posted_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    undone record;
BEGIN
    SELECT w.id AS wallet, h.house, p.credit_account_id = w.id AS was_paid_in, p.amount INTO undone
    FROM journal_entries e
    JOIN postings p ON p.entry_id = e.id
    JOIN accounts w ON w.id IN (p.debit_account_id, p.credit_account_id) AND w.house IS NULL
    JOIN accounts h ON h.id IN (p.debit_account_id, p.credit_account_id) AND h.house IS NOT NULL
    WHERE e.id = entry AND e.kind IN ('TOP_UP', 'ADJUST')
        AND NOT EXISTS (SELECT FROM reversals r WHERE r.reversed_by = entry)
        AND NOT EXISTS (SELECT FROM unmatched_vend_decisions d WHERE d.entry_id = entry);
    IF NOT FOUND THEN
        RAISE EXCEPTION 'entry % is no payment that can be reversed', entry
            USING ERRCODE = 'check_violation', CONSTRAINT = 'reversals_are_of_payments';
    END IF;
    SELECT posted.entry_id, posted.entry_posted_at INTO entry_id, entry_posted_at
    FROM post_payment(undone.wallet, 'ADJUST', undone.house, undone.was_paid_in, undone.amount, NULL, actor, reason) posted;
    INSERT INTO reversals (entry_id, reversed_by) VALUES (entry, entry_id);
END
$$;
GRANT EXECUTE ON FUNCTION reverse_payment TO vendgate_operator;
