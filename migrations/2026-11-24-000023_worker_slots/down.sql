DROP FUNCTION IF EXISTS renew_slot_shares(bigint, text[], integer[], integer[], interval);
DROP TABLE IF EXISTS slot_shares;
ALTER TABLE providers DROP COLUMN IF EXISTS worker_slots;
