INSERT INTO purchase_events (id, purchase_id, at, fact, detail, state, fence, attempt) OVERRIDING SYSTEM VALUE
SELECT * FROM purchase_history WHERE id < 0;
DROP VIEW purchase_history;
ALTER TABLE purchases SET (fillfactor = 70);
