REVOKE DELETE ON outbox FROM vendgate_worker;
DROP TRIGGER outbox_stays_for_30_days ON outbox;
DROP FUNCTION refuse_to_forget_a_message;
DROP TRIGGER outbox_is_not_emptied ON outbox;
CREATE TRIGGER outbox_stays BEFORE DELETE OR TRUNCATE ON outbox
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();
