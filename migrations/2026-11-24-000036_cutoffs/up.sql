-- Expand. A statement of a wallet is cut out of its postings at two moments. A cut-off is such a moment: the wallet's last
-- entry before it, and the balance after that entry. Once made it never changes, so the closing balance of a period is the
-- opening balance of the next one for ever. No sum begins before the nearest cut-off. Nothing here is written by a sale.
--
-- What orders the postings of a wallet is the number of their entry. Every transaction that posts to a wallet locks the
-- wallet first, then takes the number, then the time, and keeps the lock until it has ended (docs/LEDGER.md). So the
-- entries of one wallet become visible in the order of their numbers, and what is read is followed only by greater ones.
-- Times may be out of that order when a clock is set back: a cut-off decides once and for all.
CREATE TABLE cutoffs (
    id         bigint GENERATED ALWAYS AS IDENTITY,
    -- Without a foreign key: its check would lock the row that all sales of a wallet wait for.
    account_id bigint NOT NULL,
    at         timestamptz NOT NULL,
    -- The last entry before the moment; 0 if there is none.
    entry_id   bigint NOT NULL CHECK (entry_id >= 0),
    balance    bigint NOT NULL,
    PRIMARY KEY (account_id, at)
);
CREATE UNIQUE INDEX cutoffs_by_id ON cutoffs (id);

CREATE TRIGGER cutoffs_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON cutoffs
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();

-- The next postings of a wallet after an entry, up to another one: about `side_max` on each side, in whole entries. `goes_on`
-- says that there are more. The one wallet is written as a range of wallets, so that no other index has the requested order:
-- see walk_wallet.sql.
CREATE FUNCTION stretch_of_postings(wallet bigint, after_entry bigint, until_entry bigint, side_max bigint)
RETURNS TABLE (entry_id bigint, amount bigint, posted_at timestamptz, goes_on boolean)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    WITH posting AS MATERIALIZED (
        (SELECT true AS is_credit, p.entry_id, p.amount FROM postings p
         WHERE (p.credit_account_id, p.entry_id) > (wallet, after_entry) AND p.credit_account_id <= wallet
             AND p.entry_id <= until_entry
         ORDER BY p.credit_account_id, p.entry_id LIMIT side_max)
        UNION ALL
        (SELECT false, p.entry_id, -p.amount FROM postings p
         WHERE (p.debit_account_id, p.entry_id) > (wallet, after_entry) AND p.debit_account_id <= wallet
             AND p.entry_id <= until_entry
         ORDER BY p.debit_account_id, p.entry_id LIMIT side_max)
    ), edge AS (
        SELECT min(last) AS entry_id FROM (
            SELECT max(posting.entry_id) AS last FROM posting GROUP BY is_credit HAVING count(*) >= side_max
        ) AS sides
    )
    SELECT posting.entry_id, posting.amount, e.posted_at, edge.entry_id IS NOT NULL
    FROM edge
    JOIN posting ON edge.entry_id IS NULL OR posting.entry_id < edge.entry_id
    JOIN journal_entries e ON e.id = posting.entry_id
$$;

-- One transaction at a time makes cut-offs of a wallet, so that each sees those before it.
CREATE FUNCTION lock_cutoffs(wallet bigint) RETURNS void LANGUAGE sql SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT pg_advisory_xact_lock(hashtextextended('vendgate.cutoffs.' || wallet, 0))
$$;

-- The cut-off of a wallet at a moment that has passed, made if it does not exist. Its entries are those before the first one
-- with this time or a later one. If there is no such entry yet, one may be under way: then the wallet is locked, so that
-- every transaction that posted to it has ended, and the next one takes a later time. Null if the moment has not come, or if it lies
-- more than `side_max` postings after the cut-off before it: carry_cutoffs comes first.
CREATE FUNCTION cut_off(wallet bigint, moment timestamptz, side_max bigint, OUT entry_id bigint, OUT balance bigint)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    until_entry bigint;
    first_after bigint;
    goes_on boolean;
    last_before bigint;
    moved bigint;
    is_final boolean;
BEGIN
    SELECT c.entry_id, c.balance INTO entry_id, balance FROM cutoffs c WHERE c.account_id = wallet AND c.at = moment;
    IF FOUND THEN
        RETURN;
    END IF;
    IF moment > clock_timestamp() OR NOT EXISTS (SELECT FROM accounts a WHERE a.id = wallet AND a.house IS NULL) THEN
        RETURN;
    END IF;

    PERFORM lock_cutoffs(wallet);
    SELECT c.entry_id, c.balance INTO entry_id, balance FROM cutoffs c
    WHERE c.account_id = wallet AND c.at <= moment ORDER BY c.at DESC LIMIT 1;
    entry_id := coalesce(entry_id, 0);
    balance := coalesce(balance, 0);
    SELECT c.entry_id INTO until_entry FROM cutoffs c
    WHERE c.account_id = wallet AND c.at >= moment ORDER BY c.at LIMIT 1;
    -- No posting can come before a later cut-off any more.
    is_final := FOUND;

    LOOP
        WITH stretch AS MATERIALIZED (
            SELECT * FROM stretch_of_postings(wallet, entry_id, coalesce(until_entry, 9223372036854775807), side_max)
        ), later AS (
            SELECT min(s.entry_id) AS entry_id FROM stretch s WHERE s.posted_at >= moment
        )
        SELECT later.entry_id, coalesce(bool_or(s.goes_on), false),
            max(s.entry_id) FILTER (WHERE s.entry_id < later.entry_id OR later.entry_id IS NULL),
            coalesce(sum(s.amount) FILTER (WHERE s.entry_id < later.entry_id OR later.entry_id IS NULL), 0)
        INTO first_after, goes_on, last_before, moved
        FROM later LEFT JOIN stretch s ON true
        GROUP BY later.entry_id;

        IF first_after IS NULL AND goes_on THEN
            entry_id := NULL;
            balance := NULL;
            RETURN;
        END IF;
        entry_id := coalesce(last_before, entry_id);
        balance := balance + moved;
        EXIT WHEN first_after IS NOT NULL OR is_final;
        PERFORM FROM accounts a WHERE a.id = wallet FOR NO KEY UPDATE;
        is_final := true;
    END LOOP;

    INSERT INTO cutoffs (account_id, at, entry_id, balance) VALUES (wallet, moment, entry_id, balance)
    ON CONFLICT DO NOTHING;
END
$$;

-- Makes a cut-off after the next `side_max` postings of a wallet, if there are so many after its last one: no statement has
-- to add up more. Whether it made one.
CREATE FUNCTION carry_cutoffs(wallet bigint, side_max bigint) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    base cutoffs;
    carried record;
    moment timestamptz;
BEGIN
    PERFORM lock_cutoffs(wallet);
    SELECT * INTO base FROM cutoffs c WHERE c.account_id = wallet ORDER BY c.at DESC LIMIT 1;
    SELECT max(s.entry_id) AS entry_id, sum(s.amount)::bigint AS amount, max(s.posted_at) AS posted_at, bool_or(s.goes_on) AS goes_on
    INTO carried
    FROM stretch_of_postings(wallet, coalesce(base.entry_id, 0), 9223372036854775807, side_max) s;
    moment := greatest(base.at, carried.posted_at) + interval '1 microsecond';
    IF (carried.goes_on AND moment <= clock_timestamp()) IS NOT TRUE THEN
        RETURN false;
    END IF;
    INSERT INTO cutoffs (account_id, at, entry_id, balance)
    VALUES (wallet, moment, carried.entry_id, coalesce(base.balance, 0) + carried.amount);
    RETURN true;
END
$$;

GRANT SELECT ON cutoffs TO vendgate_api, vendgate_worker;
GRANT EXECUTE ON FUNCTION cut_off, carry_cutoffs TO vendgate_api, vendgate_worker;
