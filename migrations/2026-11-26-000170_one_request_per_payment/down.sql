DROP TRIGGER approval_decisions_end_requests ON approval_decisions;
DROP FUNCTION end_request();
DROP TRIGGER approval_requests_open_one_per_subject ON approval_requests;
DROP FUNCTION open_request();
DROP INDEX approval_requests_one_open_per_subject;
ALTER TABLE approval_requests DROP COLUMN open_about;
DROP FUNCTION subject_of_request(text, jsonb);
