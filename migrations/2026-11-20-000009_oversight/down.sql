DROP INDEX outbox_given_up;
DROP TRIGGER closed_references_count_for_a_day ON closed_references;
DROP FUNCTION refuse_to_reopen_a_reference();
REVOKE DELETE ON access_tokens, refresh_tokens, token_families, closed_references FROM vendgate_worker;
DROP INDEX closed_references_by_age, token_families_by_end, access_tokens_by_end;
DROP TRIGGER incidents_are_append_only ON incidents;
DROP TABLE incident_decisions;
