//! What a run writes: itself, what it finds, and its end with the line in the audit log. Each is a short transaction, because the
//! feed waits for the oldest transaction that writes.

use chrono::{DateTime, Utc};
use database::{Database, DatabaseError, Run, Statement, Transaction, column, prepared};
use diesel::{
    QueryableByName,
    sql_types::{Array, BigInt, Bool, Bytea, Integer, Nullable, Text, Timestamptz},
};
use directory::{AuditContext, AuditEntry, append};
use serde_json::json;

use crate::{list::DiscrepancyRecord, run::StatementPlan};

/// What a statement and the books do not agree about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DiscrepancyKind {
    /// The statement has a vend that no purchase asked for.
    OnlyTheirs,
    /// A purchase was successful, and the statement does not have it.
    OnlyOurs,
    /// Both have it, and differ.
    Different,
}

/// How many lines of a statement are what, and how many purchases it does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub lines: i64,
    pub matched: i64,
    /// Lines about purchases that have not ended.
    pub still_open: i64,
    pub only_theirs: i64,
    pub different: i64,
    pub only_ours: i64,
}

impl DiscrepancyKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::OnlyTheirs, Self::OnlyOurs, Self::Different];

    /// The name in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OnlyTheirs => "ONLY_THEIRS",
            Self::OnlyOurs => "ONLY_OURS",
            Self::Different => "DIFFERENT",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

struct InsertReconciliation;

impl Statement for InsertReconciliation {
    const SQL: &str = "-- insert_reconciliation
INSERT INTO reconciliations (provider_code, file_name, file_sha256, covers_from, covers_until, tolerance_s, actor, reason)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id";
}

#[derive(QueryableByName)]
struct NumberRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

struct WriteDiscrepancies;

impl Statement for WriteDiscrepancies {
    const SQL: &str = include_str!("write_discrepancies.sql");
}

struct WriteSightings;

impl Statement for WriteSightings {
    const SQL: &str = "-- write_sightings
INSERT INTO reconciliation_sightings (purchase_id, reconciliation_id)
SELECT DISTINCT id, $1 FROM unnest($2) AS s (id)
ON CONFLICT (purchase_id) DO NOTHING";
}

struct FinishReconciliation;

impl Statement for FinishReconciliation {
    const SQL: &str = "-- finish_reconciliation
UPDATE reconciliations
SET lines = $2, matched = $3, still_open = $4, only_theirs = $5, different = $6, only_ours = $7
WHERE id = $1 AND finished_at IS NULL";
}

/// Runs that are older are not counted as coverage any more, a day before (`find_coverage.sql`). Who decides about an open purchase
/// is told of its line.
struct ForgetSightings;

impl Statement for ForgetSightings {
    const SQL: &str = "-- forget_sightings
DELETE FROM reconciliation_sightings s
USING reconciliations r
WHERE r.id = s.reconciliation_id AND r.started_at < now() - interval '36 days'
    AND NOT EXISTS (SELECT FROM purchases p WHERE p.id = s.purchase_id AND p.state = 'REVIEW')";
}

/// Writes a run that begins. Returns its number.
pub(crate) async fn begin(
    database: &Database,
    plan: StatementPlan,
    act: AuditContext,
) -> Result<i64, DatabaseError> {
    let written = database.operate(move |transaction| {
        Box::pin(async move {
            let tolerance = i32::try_from(plan.period.tolerance.num_seconds()).unwrap_or(i32::MAX);
            let row: NumberRow = prepared::<InsertReconciliation>()
                .bind::<Text, _>(&plan.provider_code)
                .bind::<Text, _>(&plan.file_name)
                .bind::<Bytea, _>(plan.file_sha256.as_slice())
                .bind::<Timestamptz, _>(plan.period.from)
                .bind::<Timestamptz, _>(plan.period.until)
                .bind::<Integer, _>(tolerance)
                .bind::<Text, _>(&act.actor)
                .bind::<Text, _>(&act.reason)
                .get_result(transaction)
                .await?;
            Ok(row.id)
        })
    });
    written.await
}

/// Writes what a part of a run has found.
pub(crate) async fn found(
    database: &Database,
    run: i64,
    provider_code: String,
    found: Vec<DiscrepancyRecord>,
    sighted: Vec<i64>,
) -> Result<(), DatabaseError> {
    if found.is_empty() && sighted.is_empty() {
        return Ok(());
    }
    let written = database.operate(move |transaction| {
        Box::pin(async move {
            insert(transaction, run, &provider_code, &found).await?;
            let sightings =
                prepared::<WriteSightings>().bind::<BigInt, _>(run).bind::<Array<BigInt>, _>(sighted);
            sightings.execute(transaction).await?;
            Ok(())
        })
    });
    written.await
}

async fn insert(
    transaction: &Transaction,
    run: i64,
    provider_code: &str,
    found: &[DiscrepancyRecord],
) -> Result<(), DatabaseError> {
    prepared::<WriteDiscrepancies>()
        .bind::<BigInt, _>(run)
        .bind::<Text, _>(provider_code)
        .bind::<Array<Text>, _>(column(found, |one| one.kind.as_str()))
        .bind::<Array<Text>, _>(column(found, |one| one.provider_reference.as_str()))
        .bind::<Array<Text>, _>(column(found, |one| one.provider_transaction.as_str()))
        .bind::<Array<Text>, _>(column(found, |one| one.differs.as_str()))
        .bind::<Array<Nullable<BigInt>>, _>(column(found, |one| {
            one.ours.as_ref().map(|ours| ours.purchase.0)
        }))
        .bind::<Array<Bool>, _>(column(found, |one| one.is_by_person))
        .bind::<Array<Nullable<Timestamptz>>, _>(column(found, |one| -> Option<DateTime<Utc>> {
            one.theirs.as_ref().map(|theirs| theirs.vended_at)
        }))
        .bind::<Array<Nullable<Text>>, _>(column(found, |one| {
            one.theirs.as_ref().map(|theirs| theirs.product.as_str())
        }))
        .bind::<Array<Nullable<Text>>, _>(column(found, |one| {
            one.theirs.as_ref().and_then(|theirs| theirs.meter.as_deref())
        }))
        .bind::<Array<Nullable<Text>>, _>(column(found, |one| {
            one.theirs.as_ref().map(|theirs| theirs.net.currency().to_string())
        }))
        .bind::<Array<Nullable<BigInt>>, _>(column(found, |one| {
            one.theirs.as_ref().map(|theirs| theirs.net.minor())
        }))
        .bind::<Array<Nullable<BigInt>>, _>(column(found, |one| one.line))
        .execute(transaction)
        .await?;
    Ok(())
}

/// Writes the end of a run, with its line in the audit log.
pub(crate) async fn finish(
    database: &Database,
    run: i64,
    plan: StatementPlan,
    counts: Counts,
    act: AuditContext,
) -> Result<(), DatabaseError> {
    let written = database.operate(move |transaction| {
        Box::pin(async move {
            let finished = prepared::<FinishReconciliation>()
                .bind::<BigInt, _>(run)
                .bind::<BigInt, _>(counts.lines)
                .bind::<BigInt, _>(counts.matched)
                .bind::<BigInt, _>(counts.still_open)
                .bind::<BigInt, _>(counts.only_theirs)
                .bind::<BigInt, _>(counts.different)
                .bind::<BigInt, _>(counts.only_ours)
                .execute(transaction)
                .await?;
            if finished != 1 {
                return Err(DatabaseError::Stale { what: "the reconciliation" });
            }
            prepared::<ForgetSightings>().execute(transaction).await?;
            let entry = AuditEntry {
                act: &act,
                action: "provider.reconciled",
                organisation_id: None,
                subject: format!("provider:{}", plan.provider_code),
                details: json!({
                    "reconciliation": run,
                    "lines": counts.lines,
                    "only_theirs": counts.only_theirs,
                    "only_ours": counts.only_ours,
                    "different": counts.different,
                }),
            };
            append(transaction, entry).await
        })
    });
    written.await
}
