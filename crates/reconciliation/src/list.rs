//! The runs that were kept, and the discrepancies that they found.

use catalogue::read_currency;
use chrono::{DateTime, TimeDelta, Utc};
use database::{Database, DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{Array, BigInt, Bool, Bytea, Integer, Nullable, Text, Timestamptz},
};
use money::Money;
use purchase::{PurchaseId, StateName};
use vend::Product;

use crate::{
    coverage::StatementPeriod,
    write::{Counts, DiscrepancyKind},
};

/// A run that was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReconciliationRecord {
    /// Its number.
    pub id: i64,
    pub provider_code: String,
    pub file_name: String,
    pub file_sha256: Vec<u8>,
    pub period: StatementPeriod,
    pub started_at: DateTime<Utc>,
    /// Who ran it, by the name that was given.
    pub actor: String,
    /// Who ran it, by the login at the database.
    pub login: String,
    pub reason: String,
    /// When it ended, and what it counted. `None`: it still runs, or was interrupted.
    pub finished: Option<(DateTime<Utc>, Counts)>,
}

/// What a statement and the books do not agree about, with the evidence of both.
#[derive(Clone, Debug, PartialEq)]
pub struct DiscrepancyRecord {
    /// Its number. `None` in a rehearsal.
    pub id: Option<i64>,
    pub kind: DiscrepancyKind,
    pub provider_code: String,
    pub provider_reference: String,
    /// The provider's name for the vend: that of the statement, or ours if only we have it.
    pub provider_transaction: String,
    /// The aspects in which both differ, separated by commas.
    pub differs: String,
    /// The first line of the file that shows it.
    pub line: Option<i64>,
    /// `None` if only we have it.
    pub theirs: Option<InTheStatement>,
    /// `None` if only the statement has it.
    pub ours: Option<InTheBooks>,
    /// Whether a person, and not the provider, said that it was vended, if only we have it.
    pub is_by_person: bool,
    /// The run that found it first.
    pub first_found_in: Option<i64>,
    /// The unmatched vend that was entered for it.
    pub unmatched_vend: Option<i64>,
    /// The decision: when, by whom, why.
    pub decided: Option<(DateTime<Utc>, String, String)>,
}

/// What a statement has about a vend.
#[derive(Clone, Debug, PartialEq)]
pub struct InTheStatement {
    pub vended_at: DateTime<Utc>,
    pub product: Product,
    /// `None` for airtime: a phone number stays in the file.
    pub meter: Option<String>,
    pub net: Money,
}

/// What the books have about a vend.
#[derive(Clone, Debug, PartialEq)]
pub struct InTheBooks {
    pub purchase: PurchaseId,
    pub state: StateName,
    pub created_at: DateTime<Utc>,
    pub provider_transaction: Option<String>,
    pub product: Product,
    /// `None` for airtime.
    pub meter: Option<String>,
    pub net: Money,
}

/// Which discrepancies are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiscrepancyScope {
    /// Only those with these numbers.
    pub ids: Option<Vec<i64>>,
    /// Only those that this run has found.
    pub run: Option<i64>,
    /// Only those of this provider.
    pub provider_code: Option<String>,
    /// Decided ones too.
    pub with_decided: bool,
    /// Only those after this number.
    pub after: i64,
    /// At most so many.
    pub limit: u16,
}

struct ListReconciliations;

impl Statement for ListReconciliations {
    const SQL: &str = "-- list_reconciliations
SELECT id, provider_code, file_name, file_sha256, covers_from, covers_until, tolerance_s, started_at, actor, login, reason,
    finished_at, lines, matched, still_open, only_theirs, different, only_ours
FROM reconciliations
WHERE ($1::bigint IS NULL OR id = $1) AND ($2::text IS NULL OR provider_code = $2) AND ($3::bigint IS NULL OR id < $3)
ORDER BY id DESC LIMIT $4";
}

#[derive(QueryableByName)]
struct RunRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    provider_code: String,
    #[diesel(sql_type = Text)]
    file_name: String,
    #[diesel(sql_type = Bytea)]
    file_sha256: Vec<u8>,
    #[diesel(sql_type = Timestamptz)]
    covers_from: DateTime<Utc>,
    #[diesel(sql_type = Timestamptz)]
    covers_until: DateTime<Utc>,
    #[diesel(sql_type = Integer)]
    tolerance_s: i32,
    #[diesel(sql_type = Timestamptz)]
    started_at: DateTime<Utc>,
    #[diesel(sql_type = Text)]
    actor: String,
    #[diesel(sql_type = Text)]
    login: String,
    #[diesel(sql_type = Text)]
    reason: String,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    finished_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Nullable<BigInt>)]
    lines: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    matched: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    still_open: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    only_theirs: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    different: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    only_ours: Option<i64>,
}

struct ListDiscrepancies;

impl Statement for ListDiscrepancies {
    const SQL: &str = include_str!("list_discrepancies.sql");
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    kind: String,
    #[diesel(sql_type = Text)]
    provider_code: String,
    #[diesel(sql_type = Text)]
    provider_reference: String,
    #[diesel(sql_type = Text)]
    provider_transaction: String,
    #[diesel(sql_type = Text)]
    differs: String,
    #[diesel(sql_type = Bool)]
    is_by_person: bool,
    #[diesel(sql_type = Nullable<BigInt>)]
    line: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    first_found_in: Option<i64>,
    #[diesel(embed)]
    theirs: TheirRow,
    #[diesel(embed)]
    ours: OurRow,
    #[diesel(sql_type = Nullable<BigInt>)]
    unmatched_vend: Option<i64>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    decided_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Nullable<Text>)]
    decided_by: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    decided_because: Option<String>,
}

#[derive(QueryableByName)]
struct TheirRow {
    #[diesel(sql_type = Nullable<Timestamptz>)]
    vended_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Nullable<Text>)]
    product: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    meter: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    currency: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    net: Option<i64>,
}

#[derive(QueryableByName)]
#[expect(clippy::struct_field_names, reason = "the statement tells our columns from theirs")]
struct OurRow {
    #[diesel(sql_type = Nullable<BigInt>)]
    our_purchase: Option<i64>,
    #[diesel(sql_type = Nullable<Text>)]
    our_state: Option<String>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    our_created_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Nullable<Text>)]
    our_transaction: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    our_product: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    our_meter: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    our_currency: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    our_net: Option<i64>,
}

/// The newest runs before `before`, at most `limit`.
///
/// # Errors
/// If the database does not answer.
pub async fn list_reconciliations(
    database: &Database,
    provider_code: Option<String>,
    before: Option<i64>,
    limit: u16,
) -> Result<Vec<ReconciliationRecord>, DatabaseError> {
    runs_where(database, None, provider_code, before, limit).await
}

/// The run with this number.
///
/// # Errors
/// If the database does not answer.
pub async fn find_reconciliation(
    database: &Database,
    id: i64,
) -> Result<Option<ReconciliationRecord>, DatabaseError> {
    Ok(runs_where(database, Some(id), None, None, 1).await?.into_iter().next())
}

async fn runs_where(
    database: &Database,
    id: Option<i64>,
    provider_code: Option<String>,
    before: Option<i64>,
    limit: u16,
) -> Result<Vec<ReconciliationRecord>, DatabaseError> {
    let listed = database.read(move |connection| {
        Box::pin(async move {
            let rows = prepared::<ListReconciliations>()
                .bind::<Nullable<BigInt>, _>(id)
                .bind::<Nullable<Text>, _>(provider_code)
                .bind::<Nullable<BigInt>, _>(before)
                .bind::<BigInt, _>(i64::from(limit));
            rows.load::<RunRow>(connection).await
        })
    });
    Ok(listed.await?.into_iter().map(ReconciliationRecord::from).collect())
}

/// The oldest discrepancies of this scope.
///
/// # Errors
/// If the database does not answer.
pub async fn list_discrepancies(
    database: &Database,
    scope: DiscrepancyScope,
) -> Result<Vec<DiscrepancyRecord>, DatabaseError> {
    let listed = database.read(move |connection| {
        Box::pin(async move {
            let rows = prepared::<ListDiscrepancies>()
                .bind::<Nullable<BigInt>, _>(scope.run)
                .bind::<Bool, _>(scope.with_decided)
                .bind::<Nullable<Text>, _>(scope.provider_code)
                .bind::<BigInt, _>(scope.after)
                .bind::<BigInt, _>(i64::from(scope.limit))
                .bind::<Nullable<Array<BigInt>>, _>(scope.ids);
            rows.load::<Row>(connection).await
        })
    });
    listed.await?.into_iter().map(DiscrepancyRecord::try_from).collect()
}

impl From<RunRow> for ReconciliationRecord {
    fn from(row: RunRow) -> Self {
        let counts = Counts {
            lines: row.lines.unwrap_or_default(),
            matched: row.matched.unwrap_or_default(),
            still_open: row.still_open.unwrap_or_default(),
            only_theirs: row.only_theirs.unwrap_or_default(),
            different: row.different.unwrap_or_default(),
            only_ours: row.only_ours.unwrap_or_default(),
        };
        let tolerance = TimeDelta::seconds(i64::from(row.tolerance_s));
        Self {
            id: row.id,
            provider_code: row.provider_code,
            file_name: row.file_name,
            file_sha256: row.file_sha256,
            period: StatementPeriod { from: row.covers_from, until: row.covers_until, tolerance },
            started_at: row.started_at,
            actor: row.actor,
            login: row.login,
            reason: row.reason,
            finished: row.finished_at.map(|at| (at, counts)),
        }
    }
}

impl TryFrom<Row> for DiscrepancyRecord {
    type Error = DatabaseError;

    fn try_from(row: Row) -> Result<Self, DatabaseError> {
        let id = row.id;
        let kind = DiscrepancyKind::parse(&row.kind)
            .ok_or_else(|| DatabaseError::corrupt("discrepancies", "kind", id))?;
        let decided = match (row.decided_at, row.decided_by, row.decided_because) {
            (Some(at), Some(by), Some(because)) => Some((at, by, because)),
            _ => None,
        };
        Ok(Self {
            id: Some(id),
            kind,
            provider_code: row.provider_code,
            provider_reference: row.provider_reference,
            provider_transaction: row.provider_transaction,
            differs: row.differs,
            line: row.line,
            theirs: row.theirs.read(id)?,
            ours: row.ours.read(id)?,
            is_by_person: row.is_by_person,
            first_found_in: row.first_found_in,
            unmatched_vend: row.unmatched_vend,
            decided,
        })
    }
}

impl TheirRow {
    fn read(self, id: i64) -> Result<Option<InTheStatement>, DatabaseError> {
        let (Some(vended_at), Some(product), Some(currency), Some(net)) =
            (self.vended_at, self.product, self.currency, self.net)
        else {
            return Ok(None);
        };
        let product =
            Product::parse(&product).ok_or_else(|| DatabaseError::corrupt("discrepancies", "product", id))?;
        let net = Money::from_minor(net, read_currency("discrepancies", id, &currency)?);
        Ok(Some(InTheStatement { vended_at, product, meter: self.meter, net }))
    }
}

impl OurRow {
    fn read(self, id: i64) -> Result<Option<InTheBooks>, DatabaseError> {
        let Some(purchase) = self.our_purchase else { return Ok(None) };
        let corrupt = |column| move || DatabaseError::corrupt("purchases", column, id);
        let state = self.our_state.as_deref().and_then(StateName::parse).ok_or_else(corrupt("state"))?;
        let product = self.our_product.as_deref().and_then(Product::parse);
        let currency = read_currency("purchases", purchase, &self.our_currency.unwrap_or_default())?;
        Ok(Some(InTheBooks {
            purchase: PurchaseId(purchase),
            state,
            created_at: self.our_created_at.ok_or_else(corrupt("created_at"))?,
            provider_transaction: self.our_transaction,
            product: product.ok_or_else(corrupt("product"))?,
            meter: self.our_meter,
            net: Money::from_minor(self.our_net.ok_or_else(corrupt("net"))?, currency),
        }))
    }
}
