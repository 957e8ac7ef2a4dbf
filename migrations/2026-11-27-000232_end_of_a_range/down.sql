CREATE OR REPLACE FUNCTION stretch_of_postings(wallet bigint, after_entry bigint, until_entry bigint, side_max bigint)
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
DROP FUNCTION postings_of_wallet(bigint, bigint, bigint, bigint);
CREATE FUNCTION postings_of_wallet(wallet bigint, after_entry bigint, until_entry bigint)
RETURNS TABLE (other bigint, entry_id bigint, amount bigint)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT d.credit_account_id, d.entry_id, d.amount FROM postings d
    WHERE (d.debit_account_id, d.entry_id) > (wallet, after_entry) AND (d.debit_account_id, d.entry_id) <= (wallet, until_entry);
    RETURN QUERY
    SELECT c.debit_account_id, c.entry_id, -c.amount FROM postings c
    WHERE (c.credit_account_id, c.entry_id) > (wallet, after_entry) AND (c.credit_account_id, c.entry_id) <= (wallet, until_entry);
END
$$;
GRANT EXECUTE ON FUNCTION postings_of_wallet TO vendgate_worker, vendgate_operator, vendgate_support, vendgate_finance, vendgate_administrator;
