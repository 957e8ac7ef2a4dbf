-- Expand. A person who decided that a purchase was vended, or asked for that decision, does not close the discrepancy about it: the
-- statement is what shows that the decision was wrong.
CREATE FUNCTION refuse_own_discrepancies() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF EXISTS (
        SELECT FROM discrepancies d
        JOIN audit_log l ON l.subject = 'purchase:' || d.purchase_id AND l.action = 'purchase.resolved'
        WHERE d.id = NEW.discrepancy_id AND l.details ->> 'as' = 'vended'
            AND session_user IN (l.login, l.details ->> 'on_behalf_of')
    ) THEN
        RAISE EXCEPTION '% decided the purchase of discrepancy %', session_user, NEW.discrepancy_id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'discrepancies_are_closed_by_another';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER discrepancy_decisions_are_of_another BEFORE INSERT ON discrepancy_decisions
    FOR EACH ROW EXECUTE FUNCTION refuse_own_discrepancies();
