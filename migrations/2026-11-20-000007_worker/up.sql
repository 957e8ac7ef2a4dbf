-- What the worker goes by: when it is to look at each open purchase next, and whose request made it.

-- The worker's role, a server's with what its housekeeping needs on top.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'vendgate_worker') THEN
        CREATE ROLE vendgate_worker NOLOGIN IN ROLE vendgate_api;
    END IF;
EXCEPTION
    WHEN duplicate_object OR unique_violation THEN NULL;
END
$$;

-- Whoever made it beforehand may not have made it a member.
DO $$
BEGIN
    IF NOT pg_has_role('vendgate_worker', 'vendgate_api', 'MEMBER') THEN
        GRANT vendgate_api TO vendgate_worker;
    END IF;
EXCEPTION
    WHEN unique_violation THEN NULL;
END
$$;

ALTER TABLE purchases
    ADD COLUMN due_at timestamptz,
    -- The X-Request-Id of the confirm.
    ADD COLUMN request_id text CHECK (length(request_id) BETWEEN 1 AND 128);

UPDATE purchases SET due_at = coalesce(lease_until, now())
WHERE state IN ('IN_FLIGHT', 'IN_DOUBT', 'RETRY_DUE', 'REVIEW');

ALTER TABLE purchases ADD CONSTRAINT purchases_due_while_open
    CHECK ((due_at IS NOT NULL) = (state IN ('IN_FLIGHT', 'IN_DOUBT', 'RETRY_DUE', 'REVIEW')));

-- Only what is open is in it, so that finding work costs what is due and not a history.
CREATE INDEX purchases_due ON purchases (provider_code, due_at) WHERE due_at IS NOT NULL;

-- Whoever looks for what is due steps over all that has ended since the last vacuum, and only a vacuum clears that away:
-- later purchases go to the other end of the index. So it comes after 1 % of the table, where a fifth is usual, and does
-- not leave the indexes out.
ALTER TABLE purchases SET (
    autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 50000, vacuum_index_cleanup = on
);

GRANT UPDATE (due_at) ON purchases TO vendgate_api;
