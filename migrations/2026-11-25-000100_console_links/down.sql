REVOKE ALL ON FUNCTION number_feed_here FROM vendgate_console;
REVOKE ALL ON __diesel_schema_migrations, served_programs, feed_numbering, connected_programs FROM vendgate_console;
REVOKE ALL ON SCHEMA public FROM vendgate_console;
DROP FUNCTION take_console_link(bytea);
DROP TABLE console_links;
