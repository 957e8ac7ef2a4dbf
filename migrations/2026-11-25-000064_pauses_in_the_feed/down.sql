DROP TRIGGER provider_pauses_tell_feed_of_their_end ON provider_pauses;
DROP TRIGGER provider_pauses_tell_feed ON provider_pauses;
DROP FUNCTION tell_feed_of_pauses;
DROP FUNCTION tell_feed_of_ended_pause;
DROP FUNCTION tell_feed_of_new_pause;
DROP FUNCTION tell_feed_of_pause;
ALTER TABLE provider_pauses DROP COLUMN told;
