DROP FUNCTION enter_late_vend;
