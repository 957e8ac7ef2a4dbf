-- Where the servers' role was taken from vendgate_worker, a superuser gives it back: GRANT vendgate_api TO vendgate_worker.
-- Forgets which login wrote each line of the audit log, and their hashes. The lines and all money stay.
REVOKE USAGE ON SCHEMA public FROM vendgate_worker;
REVOKE SELECT ON ALL TABLES IN SCHEMA public FROM vendgate_worker;
REVOKE INSERT ON attempts, purchase_events, provider_replies, incidents, outbox, provider_call_counters FROM vendgate_worker;
REVOKE UPDATE ON provider_call_counters, accounts, purchases FROM vendgate_worker;
REVOKE DELETE ON closed_keys FROM vendgate_worker;

REVOKE INSERT ON audit_log FROM vendgate_operator;
GRANT INSERT ON audit_log TO vendgate_api;
REVOKE UPDATE (id) ON accounts FROM vendgate_api;
GRANT UPDATE (posted, held) ON accounts TO vendgate_api;
GRANT USAGE ON SEQUENCE journal_entry_ids TO vendgate_api;
GRANT INSERT ON journal_entries, postings TO vendgate_api;

DROP FUNCTION post_payment;
ALTER TABLE journal_entries DROP COLUMN audit_id;

DROP TRIGGER token_families_tell_of_reuse ON token_families;
DROP FUNCTION log_a_reused_refresh_token;
DROP TRIGGER audit_log_is_chained ON audit_log;
DROP FUNCTION chain_audit_line;
DROP TABLE audit_head;
DROP FUNCTION audit_hash;
ALTER TABLE audit_log DROP COLUMN login, DROP COLUMN previous_hash, DROP COLUMN hash;

DROP TRIGGER accounts_keep_their_numbers ON accounts;
DROP TRIGGER accounts_begin_empty ON accounts;
DROP FUNCTION refuse_a_full_wallet;
DROP TRIGGER incidents_are_posted ON incidents;
DROP FUNCTION post_incidents;
DROP TRIGGER purchases_settle ON purchases;
DROP FUNCTION settle_purchases;
DROP TRIGGER purchases_hold_their_total ON purchases;
DROP FUNCTION hold_for_purchases;
DROP TRIGGER offers_keep_former_commission_rate ON offers;
DROP FUNCTION keep_former_commission_rate;
ALTER TABLE offers DROP COLUMN former_commission_rate, DROP COLUMN commission_rate_since;
DROP TRIGGER postings_move_balances ON postings;
DROP FUNCTION move_balances;

ALTER DEFAULT PRIVILEGES GRANT EXECUTE ON FUNCTIONS TO PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO PUBLIC;
DO $$
DECLARE
    fixed regprocedure;
BEGIN
    FOR fixed IN
        SELECT oid FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proowner = current_user::regrole
    LOOP
        EXECUTE format('ALTER FUNCTION %s RESET search_path', fixed);
    END LOOP;
END
$$;
