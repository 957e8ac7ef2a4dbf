DROP TRIGGER purchases_erase_their_batch_line ON purchases;
DROP FUNCTION erase_batch_line;
DROP TABLE batch_lines;
DROP TABLE batches;
DROP FUNCTION log_a_batch;
DROP FUNCTION guard_batch;
DROP FUNCTION count_ended_batch_lines;
DROP FUNCTION guard_batch_line;
DROP FUNCTION batch_line_key;
