-- Expand. A range of postings without an end, because a wallet has no cut-off, was read to the end of the wallet since migration 232. It is
-- empty, as it was before.
CREATE OR REPLACE FUNCTION postings_of_wallet(wallet bigint, after_entry bigint, until_entry bigint, side_max bigint DEFAULT NULL)
RETURNS TABLE (other bigint, entry_id bigint, amount bigint)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
#variable_conflict use_column
BEGIN
    -- A range without an end, because there is no cut-off, is empty.
    IF (after_entry < until_entry) IS NOT TRUE THEN
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
