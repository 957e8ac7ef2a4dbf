-- Expand. Some providers mention our float in the answers to vends, which servers receive, too.
GRANT SELECT (provider_code, currency, amount, told_at), INSERT (provider_code, currency, amount, told_at), UPDATE (amount, told_at)
    ON provider_floats TO vendgate_api;
