-- insert_events
INSERT INTO purchase_events (purchase_id, at, fact, detail, state, fence, attempt)
SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7)
