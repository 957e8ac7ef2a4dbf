//! Operator actions on a purchase, written to the audit log in the transaction that performs them.

use diesel::sql_types::{Array, BigInt, Jsonb, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};

use super::record::Records;
use crate::StoreError;
use crate::purchases::OperatorAction;
use crate::statement::{Statement, prepared};

struct InsertOperatorActions;

impl Statement for InsertOperatorActions {
    const SQL: &str = "-- insert_deeds
INSERT INTO audit_log (actor, action, organisation_id, subject, reason, details)
SELECT d.actor, d.action, d.organisation_id, 'purchase:' || d.purchase_id, d.reason, d.details
FROM unnest($1, $2, $3, $4, $5, $6) AS d (actor, action, organisation_id, purchase_id, reason, details)";
}

impl Records<'_> {
    /// Writes an audit line for each operator action that moved its purchase.
    pub(super) async fn insert_operator_actions(
        &self,
        mut connection: &AsyncPgConnection,
    ) -> Result<(), StoreError> {
        let done = self
            .history
            .iter()
            .filter_map(|line| Some((line.submitted.id, line.submitted.operator_action.as_deref()?)));
        let done: Vec<(purchase::PurchaseId, &OperatorAction)> = done.collect();
        if done.is_empty() {
            return Ok(());
        }
        prepared::<InsertOperatorActions>()
            .bind::<Array<Text>, _>(
                done.iter()
                    .map(|(_, operator_action)| operator_action.act.actor.as_str())
                    .collect::<Vec<_>>(),
            )
            .bind::<Array<Text>, _>(
                done.iter().map(|(_, operator_action)| operator_action.action).collect::<Vec<_>>(),
            )
            .bind::<Array<BigInt>, _>(
                done.iter().map(|(_, operator_action)| operator_action.of.0).collect::<Vec<_>>(),
            )
            .bind::<Array<BigInt>, _>(done.iter().map(|(id, _)| id.0).collect::<Vec<_>>())
            .bind::<Array<Text>, _>(
                done.iter()
                    .map(|(_, operator_action)| operator_action.act.reason.as_str())
                    .collect::<Vec<_>>(),
            )
            .bind::<Array<Jsonb>, _>(
                done.iter().map(|(_, operator_action)| &operator_action.details).collect::<Vec<_>>(),
            )
            .execute(&mut connection)
            .await?;
        Ok(())
    }
}
