-- write_discrepancies
-- Each is written once, however often it is found. The run keeps which ones it has found.
WITH found AS (
    SELECT *
    FROM unnest($3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) AS f (
        kind, provider_reference, provider_transaction, differs, purchase_id, is_by_person, vended_at, product, meter, currency, net,
        line
    )
), written AS (
    INSERT INTO discrepancies (provider_code, kind, provider_reference, provider_transaction, differs, purchase_id, is_by_person,
        vended_at, product, meter, currency, net)
    SELECT $2, kind, provider_reference, provider_transaction, differs, purchase_id, is_by_person, vended_at, product, meter,
        currency, net
    FROM found
    ORDER BY line
    ON CONFLICT (provider_code, provider_reference, provider_transaction, kind, differs) DO NOTHING
    RETURNING id, provider_reference, provider_transaction, kind, differs
), known AS (
    SELECT * FROM written
    UNION
    SELECT d.id, f.provider_reference, f.provider_transaction, f.kind, f.differs
    FROM found f
    JOIN discrepancies d USING (provider_reference, provider_transaction, kind, differs)
    WHERE d.provider_code = $2
)
INSERT INTO reconciliation_findings (reconciliation_id, discrepancy_id, line)
SELECT $1, k.id, min(f.line)
FROM known k
JOIN found f USING (provider_reference, provider_transaction, kind, differs)
GROUP BY k.id
ON CONFLICT (reconciliation_id, discrepancy_id) DO NOTHING
