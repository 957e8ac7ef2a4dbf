-- Expand. The worker buys the lines of batches, by the reserve of every purchase. It may buy nothing else.

-- A line is bought once, whatever became of the purchase. The unique index over client, key and use refuses a second first use.
ALTER TABLE purchases
    ADD CONSTRAINT purchases_of_a_batch_line_are_one
        CHECK (idempotency_use IS NULL OR idempotency_use = 1 OR idempotency_key NOT LIKE 'vendgate:%') NOT VALID;

CREATE FUNCTION admit_batch_purchase() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    -- The line is locked. So it cannot end without a purchase while this one is being written.
    PERFORM FROM batches b
    JOIN batch_lines l ON l.batch_id = b.id
    WHERE NEW.idempotency_key ~ '^vendgate:batch:[0-9]{1,18}:[0-9]{1,4}$'
        AND b.id = split_part(NEW.idempotency_key, ':', 3)::bigint
        AND l.number = split_part(NEW.idempotency_key, ':', 4)::integer
        AND l.state = 'BUYING' AND b.status = 'RUNNING'
        AND (b.organisation_id, b.client_id, b.user_id, b.account_id)
            = (NEW.organisation_id, NEW.client_id, NEW.user_id, NEW.account_id)
        AND (l.product, l.provider_code, l.subscriber_identifier, l.currency, l.amount, l.external_reference)
            = (NEW.product, NEW.provider_code, NEW.subscriber_identifier, NEW.currency, NEW.entry, NEW.external_reference)
    FOR SHARE OF l;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'purchase % is not of a line that is being bought', NEW.id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'purchases_of_a_batch_are_as_its_line';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER purchases_of_a_batch_are_admitted BEFORE INSERT ON purchases
    FOR EACH ROW WHEN (
        NEW.idempotency_key LIKE 'vendgate:%'
        OR pg_has_role('vendgate_worker', 'MEMBER') AND NOT pg_has_role('vendgate_api', 'MEMBER')
    )
    EXECUTE FUNCTION admit_batch_purchase();

-- What a reserve writes and reads.
GRANT INSERT ON purchases TO vendgate_worker;
GRANT EXECUTE ON FUNCTION take_purchase_ids TO vendgate_worker;
GRANT INSERT, UPDATE (closed_at) ON closed_keys TO vendgate_worker;
GRANT SELECT ON offers, products, product_texts, default_providers, removed_offers, provider_pauses, allowed_subscribers
    TO vendgate_worker;
GRANT SELECT (id, status, environment) ON organisations TO vendgate_worker;
GRANT SELECT (id, status) ON users TO vendgate_worker;
