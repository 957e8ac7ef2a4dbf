//! Operator actions on a purchase, written to the audit log in the transaction that performs them.

use database::{DatabaseError, Statement, Writes, column, prepared};
use diesel::sql_types::{Array, BigInt, Jsonb, Text};

use super::record::Records;
use crate::purchases::OperatorAction;

struct InsertOperatorActions;

impl Statement for InsertOperatorActions {
    const SQL: &str = "-- insert_operator_actions
INSERT INTO audit_log (actor, action, organisation_id, subject, reason, details)
SELECT d.actor, d.action, d.organisation_id, 'purchase:' || d.purchase_id, d.reason, d.details
FROM unnest($1, $2, $3, $4, $5, $6) AS d (actor, action, organisation_id, purchase_id, reason, details)";
}

struct ApproveResolution;

impl Statement for ApproveResolution {
    const SQL: &str = "-- approve_resolution\nSELECT approve_resolution($1, $2)";
}

impl Records<'_> {
    /// Sends the approval of each operator action that another person has requested, before the change: the database compares the
    /// change with the request.
    pub(super) async fn approve_operator_actions(&self, writes: &mut Writes) -> Result<(), DatabaseError> {
        let actions = self.history.iter().filter_map(|line| line.submitted.operator_action.as_deref());
        for approval in actions.filter_map(|action| action.approval.as_ref()) {
            let approve = prepared::<ApproveResolution>()
                .bind::<BigInt, _>(approval.request)
                .bind::<Text, _>(approval.reason.as_str());
            writes.send(approve).await?;
        }
        Ok(())
    }

    /// Sends an audit line for each operator action that moved its purchase. The audit log comes last, because no other
    /// transaction can add to it from there to the commit.
    pub(super) async fn insert_operator_actions(&self, writes: &mut Writes) -> Result<(), DatabaseError> {
        let done = self
            .history
            .iter()
            .filter_map(|line| Some((line.submitted.id, line.submitted.operator_action.as_deref()?)));
        let done: Vec<(purchase::PurchaseId, &OperatorAction)> = done.collect();
        if done.is_empty() {
            return Ok(());
        }
        let insert = prepared::<InsertOperatorActions>()
            .bind::<Array<Text>, _>(column(&done, |(_, action)| action.act.actor.as_str()))
            .bind::<Array<Text>, _>(column(&done, |(_, action)| action.action))
            .bind::<Array<BigInt>, _>(column(&done, |(_, action)| action.of.0))
            .bind::<Array<BigInt>, _>(column(&done, |(id, _)| id.0))
            .bind::<Array<Text>, _>(column(&done, |(_, action)| action.act.reason.as_str()))
            .bind::<Array<Jsonb>, _>(done.iter().map(|(_, action)| &action.details).collect::<Vec<_>>());
        writes.send(insert).await
    }
}
