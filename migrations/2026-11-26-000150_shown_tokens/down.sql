GRANT SELECT ON purchases, incidents, unmatched_vends, approval_requests, provider_replies TO vendgate_support;
DROP FUNCTION reply_sizes(bigint);
DROP FUNCTION take_token(bigint);
DROP FUNCTION ask_for_token(bigint, integer, text, text);
DROP TABLE token_showings;
