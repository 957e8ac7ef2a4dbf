DROP FUNCTION look_up_purchases;
