-- insert_repeated_message
-- None is written if enough were within the day. The database numbers it.
INSERT INTO repeated_messages (purchase_id, phone_number, requested_by)
SELECT p.id, $3, $4 FROM purchases p
WHERE p.id = $1 AND p.organisation_id = $2
    AND (SELECT count(*) FROM repeated_messages m
        WHERE m.purchase_id = p.id AND m.written_at > clock_timestamp() - interval '1 day') < $5
RETURNING written_at, $5 - 1 - (SELECT count(*) FROM repeated_messages m
    WHERE m.purchase_id = $1 AND m.written_at > clock_timestamp() - interval '1 day') AS remaining
