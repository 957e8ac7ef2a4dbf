DROP TRIGGER token_families_stay_for_a_week ON token_families;
DROP TRIGGER refresh_tokens_outlive_their_session ON refresh_tokens;
DROP FUNCTION refuse_to_forget_a_refresh_token(), refuse_to_forget_a_session();
DROP INDEX incidents_by_vend, purchases_by_vend;
