-- Expand. What is left of the money that we have prepaid at a provider, as its protocol tells it: the last answer, and below what an
-- operator wants to know of it.
CREATE TABLE provider_floats (
    provider_code text NOT NULL REFERENCES providers (code),
    currency      text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    -- In hundredths, as every amount. A vendor may let it go below zero.
    amount        bigint,
    told_at       timestamptz,
    low_below     bigint CHECK (low_below > 0),
    PRIMARY KEY (provider_code, currency),
    CHECK ((amount IS NULL) = (told_at IS NULL))
);

GRANT SELECT ON provider_floats
    TO vendgate_worker, vendgate_operator, vendgate_support, vendgate_finance, vendgate_administrator;
GRANT INSERT (provider_code, currency, amount, told_at), UPDATE (amount, told_at) ON provider_floats TO vendgate_worker;
GRANT INSERT (provider_code, currency, low_below), UPDATE (low_below) ON provider_floats
    TO vendgate_operator, vendgate_administrator;
