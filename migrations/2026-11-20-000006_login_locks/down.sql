REVOKE UPDATE (id) ON organisations, oauth_clients, client_secrets, users FROM vendgate_api;
DROP TRIGGER users_keep_their_numbers ON users;
DROP TRIGGER client_secrets_keep_their_numbers ON client_secrets;
DROP TRIGGER oauth_clients_keep_their_numbers ON oauth_clients;
DROP TRIGGER organisations_keep_their_numbers ON organisations;
DROP FUNCTION refuse_to_renumber;
