-- What a system account has now, or for a provider what it is owed: its line of the last trial balance, and what has moved since.
CREATE OR REPLACE FUNCTION system_balance(account bigint, provider text) RETURNS bigint LANGUAGE sql STABLE
SET search_path = pg_catalog, public, pg_temp AS $$
    WITH last AS MATERIALIZED (SELECT t.at, t.entry_id FROM trial_balances t ORDER BY t.at DESC LIMIT 1)
    SELECT coalesce(sum(s.amount), 0)::bigint
    FROM (
        SELECT l.account_id, l.provider_code, l.balance FROM last JOIN trial_balance_lines l ON l.at = last.at
        UNION ALL
        SELECT m.account_id, m.provider_code, m.amount FROM moves_of_wallets((SELECT last.at FROM last), NULL) m
        UNION ALL
        SELECT m.account_id, m.provider_code, m.amount
        FROM moves_beside_wallets(coalesce((SELECT last.entry_id FROM last), 0), 9223372036854775807) m
    ) AS s (account_id, provider_code, amount)
    WHERE s.account_id = account AND (provider IS NULL OR s.provider_code = provider)
$$;
