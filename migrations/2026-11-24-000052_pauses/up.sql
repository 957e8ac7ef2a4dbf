-- Expand. An operator pauses the sales of a provider: no purchase of it is reserved then. Open purchases are settled as always, so
-- neither a retry nor the worker reads this.
CREATE TABLE provider_pauses (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provider_code text NOT NULL REFERENCES providers (code),
    -- Null: every product.
    product       text REFERENCES products (product),
    starts_at     timestamptz NOT NULL,
    -- Null: until it is resumed.
    ends_at       timestamptz,
    -- What integrators read about it.
    notice        text CHECK (char_length(notice) BETWEEN 1 AND 500),
    CONSTRAINT provider_pauses_end_later CHECK (ends_at > starts_at)
);
-- Every reserve looks here, so the table holds no history: what has ended is deleted. The audit log has every pause.
CREATE INDEX provider_pauses_of_provider ON provider_pauses (provider_code);
CREATE INDEX provider_pauses_of_product ON provider_pauses (product);
GRANT SELECT ON provider_pauses TO vendgate_api, vendgate_operator;
GRANT INSERT (provider_code, product, starts_at, ends_at, notice), DELETE ON provider_pauses TO vendgate_operator;

-- An offer that was removed is not an offer that never was: a request for it is not wrong.
CREATE TABLE removed_offers (
    organisation_id bigint NOT NULL REFERENCES organisations (id),
    product         text NOT NULL REFERENCES products (product),
    provider_code   text NOT NULL REFERENCES providers (code),
    removed_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (organisation_id, product, provider_code)
);
CREATE INDEX removed_offers_of_product ON removed_offers (product);
CREATE INDEX removed_offers_of_provider ON removed_offers (provider_code);
GRANT SELECT ON removed_offers TO vendgate_api, vendgate_operator;

-- In the database, so that programs of an earlier release do it too.
CREATE FUNCTION remember_removed_offer() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        INSERT INTO removed_offers (organisation_id, product, provider_code)
        VALUES (OLD.organisation_id, OLD.product, OLD.provider_code)
        ON CONFLICT (organisation_id, product, provider_code) DO NOTHING;
    ELSE
        DELETE FROM removed_offers r
        WHERE r.organisation_id = NEW.organisation_id AND r.product = NEW.product AND r.provider_code = NEW.provider_code;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER offers_are_remembered_when_removed AFTER INSERT OR DELETE ON offers
    FOR EACH ROW EXECUTE FUNCTION remember_removed_offer();
