REVOKE SELECT (provider_code, currency, amount, told_at), INSERT (provider_code, currency, amount, told_at), UPDATE (amount, told_at)
    ON provider_floats FROM vendgate_api;
