//! How every change to the catalogue is made: one statement, and one line in the audit log.

use database::{Database, DatabaseError, Run};
use diesel::{
    pg::Pg,
    query_builder::{QueryFragment, QueryId},
};
use directory::{AuditContext, AuditEntry, append};
use purchase::OrganisationId;
use serde_json::Value;

/// The audit line of a change.
pub(super) struct Line {
    action: &'static str,
    organisation: Option<OrganisationId>,
    subject: String,
    details: Value,
}

impl Line {
    /// A change to the catalogue of all organisations.
    pub(super) const fn new(action: &'static str, subject: String, details: Value) -> Self {
        Self { action, organisation: None, subject, details }
    }

    /// A change to the catalogue of this organisation.
    pub(super) fn of(self, organisation: OrganisationId) -> Self {
        Self { organisation: Some(organisation), ..self }
    }
}

/// Runs a statement that must change at least one row.
///
/// # Errors
/// [`DatabaseError::Absent`] if it changed no row.
pub(super) async fn change(
    database: &Database,
    statement: impl QueryFragment<Pg> + QueryId + Send + 'static,
    line: Line,
    act: AuditContext,
) -> Result<(), DatabaseError> {
    database
        .operate(move |transaction| {
            Box::pin(async move {
                if statement.execute(transaction).await? == 0 {
                    return Err(DatabaseError::Absent {
                        what: "entry in the catalogue for",
                        key: line.subject,
                    });
                }
                let entry = AuditEntry {
                    act: &act,
                    action: line.action,
                    organisation_id: line.organisation.map(|organisation| organisation.0),
                    subject: line.subject,
                    details: line.details,
                };
                append(transaction, entry).await
            })
        })
        .await
}
