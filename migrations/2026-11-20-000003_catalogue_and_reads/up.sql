-- The rest of the catalogue (texts of an organisation's products, whom it buys from by default, for whom it may buy
-- in staging), and what reading purchases back needs, so that a page of them costs a page and not a history.

-- What a product is called in a language, where it is not to be called what everybody calls it.
CREATE TABLE product_texts (
    product             text NOT NULL REFERENCES products (product),
    language            text NOT NULL CHECK (language ~ '^[a-z]{2,3}$'),
    display_name        text CHECK (length(display_name) BETWEEN 1 AND 100),
    subscriber_id_label text CHECK (length(subscriber_id_label) BETWEEN 1 AND 100),
    PRIMARY KEY (product, language),
    CONSTRAINT product_texts_say_something CHECK (display_name IS NOT NULL OR subscriber_id_label IS NOT NULL)
);

-- Whom an organisation buys a product from when it does not say. The offer cannot go while it is the default.
CREATE TABLE default_providers (
    organisation_id bigint NOT NULL,
    product         text NOT NULL,
    provider_code   text NOT NULL,
    PRIMARY KEY (organisation_id, product) INCLUDE (provider_code),
    CONSTRAINT default_provider_needs_its_offer FOREIGN KEY (organisation_id, product, provider_code)
        REFERENCES offers (organisation_id, product, provider_code)
);

-- For whom an organisation may buy while its environment is STAGING; in production nobody looks here.
CREATE TABLE allowed_subscribers (
    organisation_id       bigint NOT NULL REFERENCES organisations (id),
    subscriber_identifier text NOT NULL CHECK (subscriber_identifier ~ '^[-+._/A-Za-z0-9]{1,40}$'),
    PRIMARY KEY (organisation_id, subscriber_identifier)
);

-- Every server keeps the lists of its organisations in memory, so they must be short.
CREATE FUNCTION refuse_a_long_allow_list() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM allowed_subscribers
        WHERE organisation_id IN (SELECT organisation_id FROM added)
        GROUP BY organisation_id HAVING count(*) > 1000
    ) THEN
        RAISE EXCEPTION 'an organisation has at most 1000 allowed subscribers'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'allowed_subscribers_at_most_1000';
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER allowed_subscribers_are_few AFTER INSERT ON allowed_subscribers
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION refuse_a_long_allow_list();

-- A list of purchases, newest first, and every stretch of time in it. An index that reads add costs a purchase two
-- entries (as it is reserved, and as it ends): this one 175 bytes of WAL; in groups of 32, no time that could be told
-- from noise.
CREATE INDEX purchases_by_time ON purchases (organisation_id, created_at, id);

-- The same for one external reference, so that even whoever gives it to every purchase reads a page and no history. By a
-- hash of it, which is shorter (some 220 bytes of WAL for a purchase that has a reference), and which only that question
-- names: whatever the planner thinks of a reference, the search of a retry cannot come here.
CREATE INDEX purchases_by_reference
    ON purchases (organisation_id, hashtextextended(external_reference, 0), created_at, id)
    WHERE external_reference IS NOT NULL;

-- Failures are few, and are looked for among everything else. Only they pay for this, and only as they end.
CREATE INDEX purchases_failed ON purchases (organisation_id, created_at, id) WHERE state = 'FAILED';

-- No longer only for purchases that have an external reference: those that have none are found by their subscriber,
-- which is the way out for a confirm without one whose answer was lost. As many indexes as before.
DROP INDEX purchases_for_retry;
CREATE INDEX purchases_for_retry
    ON purchases (organisation_id, subscriber_identifier, external_reference, reserved_no);

GRANT SELECT ON product_texts, default_providers, allowed_subscribers TO vendgate_api;
GRANT INSERT, UPDATE, DELETE ON product_texts, default_providers TO vendgate_operator;
GRANT INSERT, DELETE ON allowed_subscribers TO vendgate_operator;
