-- Expand. Fees that only organisations in staging had paid could be taken out, as real money, and what their sales owed to a provider was
-- part of what it was still to be paid.

-- What a system account has now of real money, or for a provider what it is owed: its line of the last trial balance, and what has moved
-- since. What is of no organisation is real.
CREATE OR REPLACE FUNCTION system_balance(account bigint, provider text) RETURNS bigint LANGUAGE sql STABLE
SET search_path = pg_catalog, public, pg_temp AS $$
    WITH last AS MATERIALIZED (SELECT t.at, t.entry_id FROM trial_balances t ORDER BY t.at DESC LIMIT 1)
    SELECT coalesce(sum(s.amount), 0)::bigint
    FROM (
        SELECT l.account_id, l.provider_code, l.balance - l.staging FROM last JOIN trial_balance_lines l ON l.at = last.at
        UNION ALL
        SELECT m.account_id, m.provider_code, m.amount FROM moves_of_wallets((SELECT last.at FROM last), NULL) m
        JOIN organisations o ON o.id = m.organisation_id
        WHERE o.environment <> 'STAGING'
        UNION ALL
        SELECT m.account_id, m.provider_code, m.amount
        FROM moves_beside_wallets(coalesce((SELECT last.entry_id FROM last), 0), 9223372036854775807) m
        LEFT JOIN organisations o ON o.id = m.organisation_id
        WHERE o.environment IS DISTINCT FROM 'STAGING'
    ) AS s (account_id, provider_code, amount)
    WHERE s.account_id = account AND (provider IS NULL OR s.provider_code = provider)
$$;
