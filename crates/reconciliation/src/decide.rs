//! An operator's decision about discrepancies, any number of them in one transaction. It moves no money.

use database::{Database, DatabaseError, Run, Statement, Transaction, prepared};
use diesel::{
    QueryableByName,
    sql_types::{Array, BigInt, Nullable, Text},
};
use directory::{AuditContext, AuditEntry, append};
use serde_json::json;

/// Why nothing was decided.
#[derive(Debug, thiserror::Error)]
pub enum DiscrepancyError {
    /// No discrepancy has that number.
    #[error("there is no discrepancy {0}")]
    Absent(i64),
    /// It was decided before.
    #[error("{by} decided discrepancy {id} before")]
    Decided { id: i64, by: String },
    /// The database failed.
    #[error("it could not be recorded")]
    Database(#[from] DatabaseError),
}

struct FindDecisions;

impl Statement for FindDecisions {
    const SQL: &str = "-- find_discrepancy_decisions
SELECT n.id AS number, d.kind, d.purchase_id, p.organisation_id, coalesce(x.actor, e.actor) AS actor
FROM unnest($1) AS n (id)
LEFT JOIN discrepancies d ON d.id = n.id
LEFT JOIN purchases p ON p.id = d.purchase_id
LEFT JOIN discrepancy_decisions x ON x.discrepancy_id = d.id
LEFT JOIN unmatched_vends u
    ON d.kind = 'ONLY_THEIRS' AND u.provider_code = d.provider_code AND u.provider_reference = d.provider_reference
LEFT JOIN unmatched_vend_decisions e ON e.unmatched_vend_id = u.id
ORDER BY n.id";
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    number: i64,
    #[diesel(sql_type = Nullable<Text>)]
    kind: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    purchase_id: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    organisation_id: Option<i64>,
    #[diesel(sql_type = Nullable<Text>)]
    actor: Option<String>,
}

struct InsertDecisions;

impl Statement for InsertDecisions {
    const SQL: &str = "-- insert_discrepancy_decisions
INSERT INTO discrepancy_decisions (discrepancy_id, actor, reason)
SELECT id, $2, $3 FROM unnest($1) AS d (id)
ON CONFLICT (discrepancy_id) DO NOTHING";
}

/// Closes all these discrepancies after a person has dealt with them, or none of them. In a rehearsal everything is checked, and
/// undone.
///
/// # Errors
/// [`DiscrepancyError`] says which one stands in the way.
pub async fn close_discrepancies(
    database: &Database,
    mut ids: Vec<i64>,
    is_rehearsal: bool,
    act: AuditContext,
) -> Result<(), DiscrepancyError> {
    ids.sort_unstable();
    ids.dedup();
    let work = database.operate_or_rehearse(is_rehearsal, move |transaction| {
        Box::pin(async move { close(transaction, &ids, &act).await })
    });
    work.await?
}

/// A refusal has written nothing.
async fn close(
    transaction: &Transaction,
    ids: &[i64],
    act: &AuditContext,
) -> Result<Result<(), DiscrepancyError>, DatabaseError> {
    let found: Vec<Row> = prepared::<FindDecisions>().bind::<Array<BigInt>, _>(ids).load(transaction).await?;
    for row in &found {
        if row.kind.is_none() {
            return Ok(Err(DiscrepancyError::Absent(row.number)));
        }
        if let Some(by) = &row.actor {
            return Ok(Err(DiscrepancyError::Decided { id: row.number, by: by.clone() }));
        }
    }
    let written = prepared::<InsertDecisions>()
        .bind::<Array<BigInt>, _>(ids)
        .bind::<Text, _>(&act.actor)
        .bind::<Text, _>(&act.reason)
        .execute(transaction)
        .await?;
    if written != ids.len() {
        // Another person was faster. The whole transaction is undone.
        return Err(DatabaseError::Stale { what: "the discrepancies" });
    }
    for row in &found {
        let line = AuditEntry {
            act,
            action: "discrepancy.closed",
            organisation_id: row.organisation_id,
            subject: format!("discrepancy:{}", row.number),
            details: json!({ "kind": row.kind, "purchase": row.purchase_id }),
        };
        append(transaction, line).await?;
    }
    Ok(Ok(()))
}
