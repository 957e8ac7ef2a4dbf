-- Guards against mistakes that no program of ours makes twice: one vend entered for two purchases, and a session that is
-- forgotten while somebody may still give himself away by it.

-- Whose a provider's transaction is. Only an operator's decision asks, and it must not read a history under a wallet's
-- lock. A purchase pays for it once, as it is vended (some 90 bytes of WAL, next to the entry of the vend before it: a
-- provider counts up), and what is open or has failed does not. Compared byte by byte, which is cheaper than any language.
CREATE INDEX purchases_by_vend ON purchases (provider_transaction text_pattern_ops) WHERE state = 'SUCCESSFUL';
CREATE INDEX incidents_by_vend ON incidents (provider_transaction);

-- Housekeeping clears a session away a week after its end. Until then a refresh token that comes back after it was
-- exchanged gives a thief away, so nobody may forget it, not even together with its session.
CREATE FUNCTION refuse_to_forget_a_session() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the session ended less than a week ago' USING ERRCODE = 'restrict_violation';
END
$$;

CREATE FUNCTION refuse_to_forget_a_refresh_token() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM token_families WHERE id = OLD.family_id AND expires_at < now() - interval '7 days'
    ) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'the session of the refresh token ended less than a week ago' USING ERRCODE = 'restrict_violation';
END
$$;

CREATE TRIGGER refresh_tokens_outlive_their_session BEFORE DELETE ON refresh_tokens
    FOR EACH ROW EXECUTE FUNCTION refuse_to_forget_a_refresh_token();
CREATE TRIGGER token_families_stay_for_a_week BEFORE DELETE ON token_families
    FOR EACH ROW WHEN (OLD.expires_at > now() - interval '7 days') EXECUTE FUNCTION refuse_to_forget_a_session();
