-- Drops every record of money: for a database that never served.
DROP TABLE closed_references, incidents, postings, journal_entries, provider_replies, purchase_events, attempts,
    purchases, offers, products, providers, accounts;
DROP TRIGGER organisations_stay ON organisations;
DROP TRIGGER oauth_clients_stay ON oauth_clients;
DROP TRIGGER users_stay ON users;
DROP FUNCTION refuse_to_reopen;
DROP SEQUENCE purchase_ids, journal_entry_ids;
