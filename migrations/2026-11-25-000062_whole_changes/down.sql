DROP FUNCTION refuse_partial_change;
