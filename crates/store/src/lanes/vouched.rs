//! Checks that a vend which an operator vouches for belongs to no other purchase. The check runs in the transaction
//! that decides.
//!
//! A vend that a provider proves is stored whatever else is stored. An operator copies a transaction name from a
//! letter, and may copy it twice.

use database::{Connection, DatabaseError, Run, Statement, Writes, prepared};
use diesel::{
    QueryableByName,
    sql_types::{Array, BigInt, Nullable, Text},
};
use purchase::{Event, PurchaseId};

use super::record::Records;

/// The constraint name of the error for a vend that belongs to another purchase.
pub(crate) const ONE_PURCHASE_PER_VEND: &str = "one_purchase_per_vend";

/// The purchase that a provider's transaction belongs to.
#[derive(Clone, Copy, Debug, QueryableByName)]
pub(crate) struct Owner {
    #[diesel(sql_type = BigInt)]
    pub(crate) purchase_id: i64,
    /// The incident, if the vend was not paid for.
    #[diesel(sql_type = Nullable<BigInt>)]
    pub(crate) incident_id: Option<i64>,
}

/// Locks vend names. Of two operators who enter the same vend at once, the second is checked after the first has
/// committed.
struct LockVends;

impl Statement for LockVends {
    const SQL: &str = "-- lock_vends
SELECT pg_advisory_xact_lock(hashtextextended('vendgate.vend ' || v.name, 0))
FROM (SELECT DISTINCT name FROM unnest($1) AS u (name) ORDER BY name) AS v";
}

struct FindOwner;

impl Statement for FindOwner {
    const SQL: &str = "-- find_owner_of_vend
SELECT o.purchase_id, o.incident_id
FROM unnest($1, $2) AS v (id, name) JOIN purchases p ON p.id = v.id
CROSS JOIN LATERAL (
    SELECT q.id AS purchase_id, NULL::bigint AS incident_id FROM purchases q
    WHERE q.provider_transaction = v.name AND q.state = 'SUCCESSFUL' AND q.provider_code = p.provider_code AND q.id <> p.id
    UNION ALL
    SELECT i.purchase_id, i.id FROM incidents i JOIN purchases q ON q.id = i.purchase_id
    WHERE i.provider_transaction = v.name AND q.provider_code = p.provider_code AND q.id <> p.id
) AS o
LIMIT 1";
}

impl Records<'_> {
    /// Refuses a vend that belongs to another purchase. Call it after everything is written, so that two entries in one
    /// group see each other. Nothing is committed before the answer is read, so it costs a group with such an entry a few
    /// round trips, and others none.
    pub(super) async fn refuse_vends_of_others(&self, writes: &mut Writes) -> Result<(), DatabaseError> {
        let vouched = self.history.iter().filter_map(|line| {
            let Event::OperatorVended { vend, .. } = &line.submitted.event else { return None };
            Some((line.submitted.id, vend.provider_transaction.as_str()))
        });
        let vouched: Vec<(PurchaseId, &str)> = vouched.collect();
        if vouched.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = vouched.iter().map(|(_, name)| *name).collect();
        let connection = writes.answered().await?;
        prepared::<LockVends>().bind::<Array<Text>, _>(names).execute(connection).await?;
        match find_owner(connection, &vouched).await? {
            Some(_) => Err(DatabaseError::Duplicate { constraint: ONE_PURCHASE_PER_VEND.to_owned() }),
            None => Ok(()),
        }
    }
}

/// Finds another purchase of the same provider that has one of these vends.
pub(crate) async fn find_owner(
    connection: &Connection,
    vends: &[(PurchaseId, &str)],
) -> Result<Option<Owner>, DatabaseError> {
    let found: Vec<Owner> = prepared::<FindOwner>()
        .bind::<Array<BigInt>, _>(vends.iter().map(|(id, _)| id.0).collect::<Vec<_>>())
        .bind::<Array<Text>, _>(vends.iter().map(|(_, name)| *name).collect::<Vec<_>>())
        .load(connection)
        .await?;
    Ok(found.into_iter().next())
}

#[cfg(test)]
mod tests {
    use database::Statement;
    use local_postgres::{CUSTOM_PLANS, GENERIC_PLANS, executed_plan, pages_touched};
    use test_kit::database::migrated;

    use super::FindOwner;
    use crate::listing::plans::HISTORY;

    #[test]
    fn the_owner_of_a_vend_is_found_by_an_index_whatever_the_history() {
        let database = migrated();
        database.run_sql(HISTORY).unwrap();
        database.run_sql("ANALYZE").unwrap();
        for session in [CUSTOM_PLANS, GENERIC_PLANS] {
            let (types, values) = ("bigint[], text[]", "'{30001}', '{V7}'");
            let plan = executed_plan(&database, session, types, FindOwner::SQL, values);
            assert!(plan.contains("purchases_by_vend") && !plan.contains("Seq Scan on purchases"), "{plan}");
            assert!(pages_touched(&plan) <= 30, "{plan}");
        }
    }
}
