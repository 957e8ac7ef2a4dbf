-- Expand. The story of a purchase tells the requests about it. Requests are kept for ever, so they are found by an index.
CREATE INDEX approval_requests_of_purchase ON approval_requests (((arguments ->> 'purchase')::bigint)) WHERE act = 'RESOLVE';
