-- Expand. A provider has one number of slots for all workers together. Each worker has a share of them.
ALTER TABLE providers
    ADD COLUMN worker_slots integer NOT NULL DEFAULT 64 CHECK (worker_slots BETWEEN 1 AND 65535);

CREATE TABLE slot_shares (
    worker        bigint NOT NULL,
    provider_code text NOT NULL REFERENCES providers (code),
    -- The most that the worker would take. Zero: it is stopping, and only ends what it has in hand.
    wanted        integer NOT NULL CHECK (wanted >= 0),
    slots         integer NOT NULL CHECK (slots >= 0),
    -- A share that is not renewed by then goes to the other workers.
    lease_until   timestamptz NOT NULL,
    PRIMARY KEY (provider_code, worker)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON slot_shares TO vendgate_worker;

-- Renews the shares of one worker for the time of the lease, and returns their sizes. The shares of a provider never have more
-- slots together than it has, as long as no worker has more in hand than its share. So a larger share is given only out of what
-- the other workers have given up. A smaller share takes effect at once, down to what the worker has in hand.
--
-- It must be called alone, outside a transaction: its lock ends with it, even if the caller is stopped meanwhile. Each statement
-- in it sees what the holder of the lock before it has written.
CREATE FUNCTION renew_slot_shares(own bigint, codes text[], wants integer[], in_hand integer[], lease interval)
RETURNS TABLE (code text, share integer) LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('vendgate.slot_shares', 0));
    DELETE FROM slot_shares WHERE lease_until <= clock_timestamp();
    RETURN QUERY
    INSERT INTO slot_shares AS s (worker, provider_code, wanted, slots, lease_until)
    SELECT own, p.code, asked.wanted,
        greatest(asked.in_hand, least(asked.wanted, p.worker_slots - others.slots,
            -- What the division leaves over goes to the workers with the lowest numbers, one slot to each.
            p.worker_slots / (others.working + 1)
                + (others.earlier < p.worker_slots % (others.working + 1))::integer)),
        clock_timestamp() + lease
    FROM unnest(codes, wants, in_hand) AS asked (code, wanted, in_hand)
    JOIN providers p ON p.code = asked.code
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(o.slots), 0)::integer AS slots, (count(*) FILTER (WHERE o.wanted > 0))::integer AS working,
            (count(*) FILTER (WHERE o.wanted > 0 AND o.worker < own))::integer AS earlier
        FROM slot_shares o WHERE o.provider_code = p.code AND o.worker <> own
    ) others
    ON CONFLICT (provider_code, worker) DO UPDATE
        SET wanted = EXCLUDED.wanted, slots = EXCLUDED.slots, lease_until = EXCLUDED.lease_until
    RETURNING s.provider_code, s.slots;
END
$$;
GRANT EXECUTE ON FUNCTION renew_slot_shares TO vendgate_worker;
