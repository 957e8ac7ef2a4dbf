DROP TABLE reconciliation_sightings;
DROP TABLE discrepancy_decisions;
DROP TABLE reconciliation_findings;
DROP TABLE discrepancies;
DROP TABLE reconciliations;
DROP FUNCTION finish_reconciliation();
REVOKE SELECT ON unmatched_vend_decisions FROM vendgate_worker;
REVOKE SELECT (provider_code) ON offers FROM vendgate_worker;
