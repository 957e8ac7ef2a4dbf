//! Suspends and readmits organisations, clients and users, all in the same way.

use database::{Database, DatabaseError, Run, Transaction};
use diesel::{ExpressionMethods, QueryDsl};
use serde_json::json;

use crate::{
    AuditContext, AuditEntry, Status, append,
    schema::{oauth_clients, organisations, users},
};

/// An organisation, client or user that can be suspended, by id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Party {
    Organisation(i64),
    Client(i64),
    User(i64),
}

/// Suspends or readmits. It takes effect at once where money moves, and within seconds elsewhere.
pub async fn set_status(
    database: &Database,
    party: Party,
    status: Status,
    act: AuditContext,
) -> Result<(), DatabaseError> {
    database
        .operate(move |transaction| Box::pin(async move { update(transaction, party, status, &act).await }))
        .await
}

async fn update(
    transaction: &Transaction,
    party: Party,
    status: Status,
    act: &AuditContext,
) -> Result<(), DatabaseError> {
    let organisation_id: Option<i64> = match party {
        Party::Organisation(id) => {
            diesel::update(organisations::table.find(id))
                .set(organisations::status.eq(status.code()))
                .returning(organisations::id)
                .optional(transaction)
                .await?
        }
        Party::Client(id) => {
            diesel::update(oauth_clients::table.find(id))
                .set(oauth_clients::status.eq(status.code()))
                .returning(oauth_clients::organisation_id)
                .optional(transaction)
                .await?
        }
        Party::User(id) => {
            diesel::update(users::table.find(id))
                .set(users::status.eq(status.code()))
                .returning(users::organisation_id)
                .optional(transaction)
                .await?
        }
    };
    let (what, id, action) = party.described();
    if organisation_id.is_none() {
        return Err(DatabaseError::Absent { what, key: id.to_string() });
    }
    let (subject, details) = (format!("{what}:{id}"), json!({ "status": status.code() }));
    append(transaction, AuditEntry { act, action, organisation_id, subject, details }).await
}

impl Party {
    fn described(self) -> (&'static str, i64, &'static str) {
        match self {
            Self::Organisation(id) => ("organisation", id, "organisation.status_set"),
            Self::Client(id) => ("client", id, "client.status_set"),
            Self::User(id) => ("user", id, "user.status_set"),
        }
    }
}
