//! What a person did to a purchase, written into the audit log in the transaction that does it.

use diesel::sql_types::{Array, BigInt, Jsonb, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};

use super::record::Records;
use crate::StoreError;
use crate::purchases::Deed;
use crate::statement::{Statement, prepared};

struct InsertDeeds;

impl Statement for InsertDeeds {
    const SQL: &str = "-- insert_deeds
INSERT INTO audit_log (actor, action, organisation_id, subject, reason, details)
SELECT d.actor, d.action, d.organisation_id, 'purchase:' || d.purchase_id, d.reason, d.details
FROM unnest($1, $2, $3, $4, $5, $6) AS d (actor, action, organisation_id, purchase_id, reason, details)";
}

impl Records<'_> {
    /// Writes a line for each deed that moved its purchase.
    pub(super) async fn insert_deeds(&self, mut connection: &AsyncPgConnection) -> Result<(), StoreError> {
        let done = self.history.iter().filter_map(|line| Some((line.entry.id, line.entry.deed.as_deref()?)));
        let done: Vec<(purchase::PurchaseId, &Deed)> = done.collect();
        if done.is_empty() {
            return Ok(());
        }
        prepared::<InsertDeeds>()
            .bind::<Array<Text>, _>(done.iter().map(|(_, deed)| deed.act.actor.as_str()).collect::<Vec<_>>())
            .bind::<Array<Text>, _>(done.iter().map(|(_, deed)| deed.action).collect::<Vec<_>>())
            .bind::<Array<BigInt>, _>(done.iter().map(|(_, deed)| deed.of.0).collect::<Vec<_>>())
            .bind::<Array<BigInt>, _>(done.iter().map(|(id, _)| id.0).collect::<Vec<_>>())
            .bind::<Array<Text>, _>(done.iter().map(|(_, deed)| deed.act.reason.as_str()).collect::<Vec<_>>())
            .bind::<Array<Jsonb>, _>(done.iter().map(|(_, deed)| &deed.details).collect::<Vec<_>>())
            .execute(&mut connection)
            .await?;
        Ok(())
    }
}
