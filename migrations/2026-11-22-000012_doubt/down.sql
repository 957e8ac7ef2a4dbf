ALTER TABLE closed_references DROP COLUMN rests_until;
ALTER TABLE providers DROP COLUMN settles_within_s;
ALTER TABLE purchases
    DROP COLUMN claimed_at,
    DROP COLUMN asked_at,
    DROP COLUMN send_ended_at,
    DROP COLUMN earlier_sends_ended_by;
