DROP FUNCTION find_console_identity(text, text);
DROP FUNCTION remove_console_identity(text, text, text, text);
DROP FUNCTION add_console_identity(text, text, text, text);
DROP TABLE console_identities;
