-- Expand. The story of a purchase tells the requests about it, and its discrepancies. They are kept for ever, so they are found by indexes.
CREATE INDEX approval_requests_of_purchase ON approval_requests (((arguments ->> 'purchase')::bigint)) WHERE act = 'RESOLVE';
CREATE INDEX discrepancies_of_purchase ON discrepancies (purchase_id) WHERE purchase_id IS NOT NULL;
