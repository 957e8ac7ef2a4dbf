-- Doubt ends in seconds: what must be known of an open purchase for that, of a provider's connection, and of a reference
-- about which a retry has given a final answer.

-- All begin empty: of what was sent before, nothing of this is known.
ALTER TABLE purchases
    -- When it was last claimed, and when the turn to ask about it was last taken: integrators who ask share one enquiry.
    ADD COLUMN claimed_at timestamptz,
    ADD COLUMN asked_at timestamptz,
    -- When the sender of the latest copy reported the end of its request, and by when all earlier requests were over.
    ADD COLUMN send_ended_at timestamptz,
    ADD COLUMN earlier_sends_ended_by timestamptz,
    ADD CONSTRAINT purchases_sends_end_after_they_begin
        CHECK (copies IS NOT NULL OR (send_ended_at IS NULL AND earlier_sends_ended_by IS NULL)) NOT VALID;
GRANT UPDATE (claimed_at, asked_at, send_ended_at, earlier_sends_ended_by) ON purchases TO vendgate_api;

-- How long after an order has left us the provider may still act on it.
ALTER TABLE providers
    ADD COLUMN settles_within_s integer NOT NULL DEFAULT 600 CHECK (settles_within_s BETWEEN 1 AND 86400);

-- No confirm that arrived before this moment, or before the closing, buys under the reference. It is later than the closing
-- where "not found" or "failed" was told: the confirm may still be on its way to us. A server of the version before leaves
-- it as it is.
ALTER TABLE closed_references ADD COLUMN rests_until timestamptz NOT NULL DEFAULT '-infinity';
GRANT UPDATE (rests_until) ON closed_references TO vendgate_api;
