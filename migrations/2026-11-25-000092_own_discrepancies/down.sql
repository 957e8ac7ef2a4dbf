DROP TRIGGER discrepancy_decisions_are_of_another ON discrepancy_decisions;
DROP FUNCTION refuse_own_discrepancies();
