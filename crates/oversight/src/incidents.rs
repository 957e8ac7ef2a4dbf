//! Incidents: vends that became known too late, and what an operator decided about them.

use catalogue::read_currency;
use chrono::{DateTime, Utc};
use database::{Database, DatabaseError, Run, Statement, Transaction, prepared};
use diesel::{
    ExpressionMethods, NullableExpressionMethods, QueryDsl, Queryable, QueryableByName,
    sql_types::{BigInt, Bool, Nullable, Text, Timestamptz},
};
use directory::{AuditContext, AuditEntry, append};
use money::Money;
use purchase::{Incident, PurchaseId};
use serde_json::json;

use crate::schema::{incident_decisions, incidents, purchases};

/// A vend that was not paid for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncidentRecord {
    /// Its number.
    pub id: i64,
    /// Whether the purchase had failed or had been paid for another vend.
    pub kind: Incident,
    /// The purchase.
    pub purchase: PurchaseId,
    /// The code of its organisation.
    pub organisation: String,
    /// The code of the provider.
    pub provider_code: String,
    /// When it became known.
    pub at: DateTime<Utc>,
    /// The provider's name for the vend.
    pub provider_transaction: String,
    /// Whether a sealed token is stored with it.
    pub has_token: bool,
    /// The amount that we owe the provider for it, as posted to suspense.
    pub suspense: Money,
    /// The decision that closed it: when, by whom, why.
    pub closed: Option<(DateTime<Utc>, String, String)>,
}

/// Why an incident was not closed.
#[derive(Debug, thiserror::Error)]
pub enum IncidentError {
    /// No incident has that number.
    #[error("there is no incident {0}")]
    Absent(i64),
    /// It was closed before.
    #[error("{by} closed incident {id} before")]
    Closed { id: i64, by: String },
    /// The database failed.
    #[error("it could not be recorded")]
    Database(#[from] DatabaseError),
}

struct ListIncidents;

impl Statement for ListIncidents {
    const SQL: &str = "-- list_incidents
SELECT i.id, i.kind, i.purchase_id, o.code AS organisation, p.provider_code, i.at, i.provider_transaction,
    i.token_key_id IS NOT NULL AS has_token, p.currency, p.net, d.at AS closed_at, d.actor, d.reason
FROM incidents i
JOIN purchases p ON p.id = i.purchase_id
JOIN organisations o ON o.id = p.organisation_id
LEFT JOIN incident_decisions d ON d.incident_id = i.id
WHERE ($1::bigint IS NULL OR i.id = $1) AND ($2::bigint IS NULL OR i.purchase_id = $2) AND (d.incident_id IS NULL OR $3)
    AND ($4::bigint IS NULL OR i.id < $4)
ORDER BY i.id DESC LIMIT $5";
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    kind: String,
    #[diesel(sql_type = BigInt)]
    purchase_id: i64,
    #[diesel(sql_type = Text)]
    organisation: String,
    #[diesel(sql_type = Text)]
    provider_code: String,
    #[diesel(sql_type = Timestamptz)]
    at: DateTime<Utc>,
    #[diesel(sql_type = Text)]
    provider_transaction: String,
    #[diesel(sql_type = Bool)]
    has_token: bool,
    #[diesel(sql_type = Text)]
    currency: String,
    #[diesel(sql_type = BigInt)]
    net: i64,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    closed_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Nullable<Text>)]
    actor: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    reason: Option<String>,
}

#[derive(Queryable)]
struct OwnerRow {
    organisation_id: i64,
    purchase_id: i64,
    provider_transaction: String,
    actor: Option<String>,
}

/// The newest incidents before `before`, at most `limit`: the open ones, or all of them if `with_closed` is set.
pub async fn list_incidents(
    database: &Database,
    with_closed: bool,
    before: Option<i64>,
    limit: u16,
) -> Result<Vec<IncidentRecord>, DatabaseError> {
    incidents_where(database, (None, None), with_closed, before, limit).await
}

/// The incident with this number.
pub async fn find_incident(database: &Database, id: i64) -> Result<Option<IncidentRecord>, DatabaseError> {
    Ok(incidents_where(database, (Some(id), None), true, None, 1).await?.into_iter().next())
}

/// Closes an incident after an operator has dealt with it. The incident itself does not change. In a rehearsal everything is
/// checked, and undone.
pub async fn close_incident(
    database: &Database,
    id: i64,
    is_rehearsal: bool,
    act: AuditContext,
) -> Result<(), IncidentError> {
    let closed = database.operate_or_rehearse(is_rehearsal, move |transaction| {
        Box::pin(async move { close(transaction, id, &act).await })
    });
    closed.await?
}

async fn incidents_where(
    database: &Database,
    (id, purchase): (Option<i64>, Option<i64>),
    with_closed: bool,
    before: Option<i64>,
    limit: u16,
) -> Result<Vec<IncidentRecord>, DatabaseError> {
    let listed = database.read(move |connection| {
        Box::pin(async move {
            let rows = prepared::<ListIncidents>()
                .bind::<Nullable<BigInt>, _>(id)
                .bind::<Nullable<BigInt>, _>(purchase)
                .bind::<Bool, _>(with_closed)
                .bind::<Nullable<BigInt>, _>(before)
                .bind::<BigInt, _>(i64::from(limit))
                .load::<Row>(connection);
            rows.await
        })
    });
    listed.await?.into_iter().map(IncidentRecord::try_from).collect()
}

/// The incidents of one purchase, in the caller's transaction.
pub(crate) async fn of_purchase(
    transaction: &Transaction,
    purchase: PurchaseId,
) -> Result<Vec<IncidentRecord>, DatabaseError> {
    let rows: Vec<Row> = prepared::<ListIncidents>()
        .bind::<Nullable<BigInt>, _>(None::<i64>)
        .bind::<Nullable<BigInt>, _>(Some(purchase.0))
        .bind::<Bool, _>(true)
        .bind::<Nullable<BigInt>, _>(None::<i64>)
        .bind::<BigInt, _>(i64::from(u16::MAX))
        .load(transaction)
        .await?;
    rows.into_iter().map(IncidentRecord::try_from).collect()
}

async fn close(
    transaction: &Transaction,
    id: i64,
    act: &AuditContext,
) -> Result<Result<(), IncidentError>, DatabaseError> {
    let owner = find_owner(transaction, id).await?;
    let Some(owner) = owner else { return Ok(Err(IncidentError::Absent(id))) };
    let written = diesel::insert_into(incident_decisions::table)
        .values((
            incident_decisions::incident_id.eq(id),
            incident_decisions::actor.eq(&act.actor),
            incident_decisions::reason.eq(&act.reason),
        ))
        .on_conflict(incident_decisions::incident_id)
        .do_nothing()
        .execute(transaction);
    if written.await? == 0 {
        // The first closer has committed by now, because the statement waited for it.
        let by = find_owner(transaction, id).await?.and_then(|owner| owner.actor).unwrap_or_default();
        return Ok(Err(IncidentError::Closed { id, by }));
    }
    let entry = AuditEntry {
        act,
        action: "incident.closed",
        organisation_id: Some(owner.organisation_id),
        subject: format!("incident:{id}"),
        details: json!({ "purchase": owner.purchase_id, "provider_transaction": owner.provider_transaction }),
    };
    append(transaction, entry).await?;
    Ok(Ok(()))
}

async fn find_owner(transaction: &Transaction, id: i64) -> Result<Option<OwnerRow>, DatabaseError> {
    let row = incidents::table
        .inner_join(purchases::table)
        .left_join(incident_decisions::table)
        .filter(incidents::id.eq(id))
        .select((
            purchases::organisation_id,
            purchases::id,
            incidents::provider_transaction,
            incident_decisions::actor.nullable(),
        ));
    row.optional::<OwnerRow>(transaction).await
}

impl TryFrom<Row> for IncidentRecord {
    type Error = DatabaseError;

    fn try_from(row: Row) -> Result<Self, DatabaseError> {
        let currency = read_currency("purchases", row.purchase_id, &row.currency)?;
        let closed = match (row.closed_at, row.actor, row.reason) {
            (Some(at), Some(actor), Some(reason)) => Some((at, actor, reason)),
            _ => None,
        };
        Ok(Self {
            id: row.id,
            kind: Incident::parse(&row.kind)
                .ok_or_else(|| DatabaseError::corrupt("incidents", "kind", row.id))?,
            purchase: PurchaseId(row.purchase_id),
            organisation: row.organisation,
            provider_code: row.provider_code,
            at: row.at,
            provider_transaction: row.provider_transaction,
            has_token: row.has_token,
            suspense: Money::from_minor(row.net, currency),
            closed,
        })
    }
}
