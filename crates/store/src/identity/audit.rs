//! The audit log: who did what, to whom and why, written in the transaction of the deed itself.

use diesel::ExpressionMethods;
use diesel_async::RunQueryDsl;
use serde_json::Value;

use super::schema::audit_log;
use crate::{StoreError, transaction::Transaction};

/// Who acts, and why, in their own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Act {
    /// A person or a process.
    pub actor: String,
    pub reason: String,
}

/// One line of the log. It never holds a secret, a password or a token.
#[derive(Debug)]
pub(crate) struct AuditEntry<'a> {
    pub(crate) act: &'a Act,
    /// What was done, as `noun.past_participle`.
    pub(crate) action: &'static str,
    pub(crate) organisation_id: Option<i64>,
    /// What it was done to, as `noun:key`.
    pub(crate) subject: String,
    /// A JSON object.
    pub(crate) details: Value,
}

/// Adds a line to the log.
pub(crate) async fn append(transaction: &mut Transaction, entry: AuditEntry<'_>) -> Result<(), StoreError> {
    let written = diesel::insert_into(audit_log::table)
        .values((
            audit_log::actor.eq(&entry.act.actor),
            audit_log::action.eq(entry.action),
            audit_log::organisation_id.eq(entry.organisation_id),
            audit_log::subject.eq(entry.subject),
            audit_log::reason.eq(&entry.act.reason),
            audit_log::details.eq(entry.details),
        ))
        .execute(transaction);
    written.await?;
    Ok(())
}
