DROP FUNCTION reverse_payment;
DROP TABLE reversals;
