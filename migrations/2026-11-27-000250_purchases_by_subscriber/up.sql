-- Expand. The purchases of a subscriber and a reference, newest first, as `purchases_for_retry` served them, but by a hash of the
-- reference. So an entry takes two thirds with a reference of 32 characters. This hash is not that of `purchases_by_reference`:
-- whatever the planner thinks of a reference, a retry cannot come to the purchases of all subscribers with that reference.
CREATE INDEX CONCURRENTLY purchases_by_subscriber
    ON purchases (organisation_id, subscriber_identifier, hashtext(external_reference), reserved_no);
