-- A login holds still what it rests on while it opens a session, so that whoever replaces a password, revokes a
-- secret or suspends somebody either is seen by it or sees the session. Only who may change something of a row
-- may lock it; so the servers may change the one thing that nobody may.
CREATE FUNCTION refuse_to_renumber() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the numbers of % are for ever', tg_table_name USING ERRCODE = 'restrict_violation';
END
$$;

CREATE TRIGGER organisations_keep_their_numbers BEFORE UPDATE OF id ON organisations
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_renumber();
CREATE TRIGGER oauth_clients_keep_their_numbers BEFORE UPDATE OF id ON oauth_clients
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_renumber();
CREATE TRIGGER client_secrets_keep_their_numbers BEFORE UPDATE OF id ON client_secrets
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_renumber();
CREATE TRIGGER users_keep_their_numbers BEFORE UPDATE OF id ON users
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_renumber();

GRANT UPDATE (id) ON organisations, oauth_clients, client_secrets, users TO vendgate_api;
