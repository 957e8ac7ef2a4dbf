-- The messages that are owed: written in the transaction that ends a purchase, sent by whoever claims them, at least
-- once. A row holds no token, no text and no number: all of that is read from the purchase when it is sent.

CREATE TABLE outbox (
    purchase_id bigint NOT NULL,
    kind        text NOT NULL CHECK (kind IN ('ISSUED', 'REFUNDED')),
    recipient   text NOT NULL CHECK (recipient IN ('BENEFICIARY', 'REQUESTER')),
    channel     text NOT NULL CHECK (channel IN ('SMS', 'EMAIL')),
    written_at  timestamptz NOT NULL,
    -- When it is to be taken up next. Whoever takes it moves this on by as long as sending may take, which is the lease;
    -- the number of times that it was taken is the fence.
    due_at      timestamptz NOT NULL,
    attempts    smallint NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    sent_at     timestamptz,
    given_up_at timestamptz,
    given_up_because text CHECK (given_up_because IN ('NO_CHANNEL', 'NOBODY', 'REFUSED', 'TOO_OLD', 'TOO_OFTEN')),
    -- By which one message is told from another. A purchase ends once, so nobody is told two things of one, not even that
    -- a token was issued and that the money is back. No foreign key, for the reason that the tables of purchases have none.
    PRIMARY KEY (purchase_id, recipient, channel),
    CONSTRAINT outbox_ends_once CHECK (sent_at IS NULL OR given_up_at IS NULL),
    CONSTRAINT outbox_says_why CHECK ((given_up_at IS NULL) = (given_up_because IS NULL))
) WITH (fillfactor = 80);
CREATE INDEX outbox_due ON outbox (channel, due_at) WHERE sent_at IS NULL AND given_up_at IS NULL;

-- Whoever settles writes them; the worker sends them. Nobody who serves can unsay one.
GRANT SELECT, INSERT ON outbox TO vendgate_api;
GRANT UPDATE (due_at, attempts, sent_at, given_up_at, given_up_because) ON outbox TO vendgate_worker;

CREATE TRIGGER outbox_stays BEFORE DELETE OR TRUNCATE ON outbox
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();

CREATE FUNCTION refuse_to_send_again() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the message about purchase % was sent', OLD.purchase_id USING ERRCODE = 'restrict_violation';
END
$$;

CREATE TRIGGER outbox_sends_once BEFORE UPDATE ON outbox
    FOR EACH ROW WHEN (OLD.sent_at IS NOT NULL) EXECUTE FUNCTION refuse_to_send_again();
