REVOKE SELECT (id, status) ON users FROM vendgate_worker;
GRANT SELECT (id, phone_number, email) ON users TO vendgate_worker;
REVOKE SELECT (id, status, environment) ON organisations FROM vendgate_worker;
GRANT SELECT (id) ON organisations TO vendgate_worker;
REVOKE SELECT ON offers, products, product_texts, default_providers, removed_offers, provider_pauses, allowed_subscribers
    FROM vendgate_worker;
REVOKE INSERT, UPDATE (closed_at) ON closed_keys FROM vendgate_worker;
REVOKE EXECUTE ON FUNCTION take_purchase_ids FROM vendgate_worker;
REVOKE INSERT ON purchases FROM vendgate_worker;
DROP TRIGGER purchases_of_a_batch_are_admitted ON purchases;
DROP FUNCTION admit_batch_purchase;
ALTER TABLE purchases DROP CONSTRAINT purchases_of_a_batch_line_are_one;
