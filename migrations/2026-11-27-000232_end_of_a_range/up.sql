-- Expand. What reads the postings of a wallet between two entries went on to the last posting of that wallet. Of a condition that compares
-- two columns with a pair, PostgreSQL 15 ends the scan of an index only by the first column, here the wallet. So a day long ago cost all
-- that the wallet sold since.

-- The postings of a wallet after one entry and up to another, seen from the account on the other side: what was credited to it less what
-- was debited. Of each side at most `side_max`, the first ones. The loops end at the first posting behind the range. The wallet is written
-- as a range of wallets, and no sort is allowed, so that no other index serves: the index of entries would be read from its first entry on.
DROP FUNCTION postings_of_wallet(bigint, bigint, bigint);
CREATE FUNCTION postings_of_wallet(wallet bigint, after_entry bigint, until_entry bigint, side_max bigint DEFAULT NULL)
RETURNS TABLE (other bigint, entry_id bigint, amount bigint)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
#variable_conflict use_column
BEGIN
    IF after_entry >= until_entry THEN
        RETURN;
    END IF;
    FOR other, entry_id, amount IN
        SELECT d.credit_account_id, d.entry_id, d.amount FROM postings d
        WHERE (d.debit_account_id, d.entry_id) > (wallet, after_entry) AND d.debit_account_id <= wallet
        ORDER BY d.debit_account_id, d.entry_id LIMIT side_max
    LOOP
        EXIT WHEN entry_id > until_entry;
        RETURN NEXT;
    END LOOP;
    FOR other, entry_id, amount IN
        SELECT c.debit_account_id, c.entry_id, -c.amount FROM postings c
        WHERE (c.credit_account_id, c.entry_id) > (wallet, after_entry) AND c.credit_account_id <= wallet
        ORDER BY c.credit_account_id, c.entry_id LIMIT side_max
    LOOP
        EXIT WHEN entry_id > until_entry;
        RETURN NEXT;
    END LOOP;
END
$$;
GRANT EXECUTE ON FUNCTION postings_of_wallet TO vendgate_api, vendgate_worker, vendgate_operator, vendgate_support, vendgate_finance,
    vendgate_administrator;

-- As migration 36 has it, by that function.
CREATE OR REPLACE FUNCTION stretch_of_postings(wallet bigint, after_entry bigint, until_entry bigint, side_max bigint)
RETURNS TABLE (entry_id bigint, amount bigint, posted_at timestamptz, goes_on boolean)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    WITH posting AS MATERIALIZED (
        SELECT m.entry_id, -m.amount AS amount FROM postings_of_wallet(wallet, after_entry, until_entry, side_max) m
    ), edge AS (
        SELECT min(last) AS entry_id FROM (
            SELECT max(posting.entry_id) AS last FROM posting GROUP BY posting.amount > 0 HAVING count(*) >= side_max
        ) AS sides
    )
    SELECT posting.entry_id, posting.amount, e.posted_at, edge.entry_id IS NOT NULL
    FROM edge
    JOIN posting ON edge.entry_id IS NULL OR posting.entry_id < edge.entry_id
    CROSS JOIN LATERAL (SELECT j.posted_at FROM journal_entries j WHERE j.id = posting.entry_id OFFSET 0) e
$$;
