DROP TABLE outbox;
DROP FUNCTION refuse_to_send_again();
