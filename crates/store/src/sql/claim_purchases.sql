-- claim_purchases
-- Compare and set, with a line of history for each purchase. The row count shows how many were claimed.
WITH claimed AS (
    UPDATE purchases p
    SET state = u.state, fence = u.fence, lease_until = u.lease_until, due_at = u.due_at,
        claimed_at = u.at
    FROM unnest($1, $2, $3, $4, $5, $6, $7, $8) AS u (id, old_state, old_fence, state, fence, lease_until, due_at, at)
    WHERE p.id = u.id AND p.state = u.old_state AND p.fence = u.old_fence
    RETURNING p.id, u.at, p.state, p.fence, p.attempt
)
INSERT INTO purchase_events (purchase_id, at, fact, state, fence, attempt)
SELECT id, at, $9, state, fence, attempt FROM claimed
