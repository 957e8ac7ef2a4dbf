DROP TRIGGER audit_log_approvals_name_their_organisation ON audit_log;
DROP FUNCTION name_organisation_of_approval();
