//! Pauses of a provider's sales: entered by an operator, at once or for later, and ended by their time or by the operator. Those that a
//! circuit breaker makes are listed here, too, and an operator may end them.

use chrono::{DateTime, Utc};
use database::{Connection, Database, DatabaseError, Run, Statement, Transaction, prepared};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Bool, Nullable, Text, Timestamptz},
};
use directory::{AuditContext, AuditEntry, append};
use serde_json::json;
use vend::Product;

/// A pause that was in force when the catalogue was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pause {
    /// The provider whose sales are paused.
    pub provider_code: String,
    /// The product that is paused. `None`: every product of the provider.
    pub product: Option<Product>,
    /// When it ends by itself. `None` if an operator ends it.
    pub until: Option<DateTime<Utc>>,
    /// What integrators read about it.
    pub notice: Option<String>,
}

/// A pause to be entered.
#[derive(Clone, Debug, Default)]
pub struct NewPause {
    /// The product to be paused. `None`: every product of the provider.
    pub product: Option<Product>,
    /// When it begins. `None`: at once.
    pub starts_at: Option<DateTime<Utc>>,
    /// When it ends by itself. `None`: it is ended by an operator.
    pub ends_at: Option<DateTime<Utc>>,
    /// What integrators read about it.
    pub notice: Option<String>,
}

/// A pause that is in force or still to come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedPause {
    /// Its number.
    pub id: i64,
    /// The provider whose sales are paused.
    pub provider_code: String,
    /// The product that is paused. `None`: every product of the provider.
    pub product: Option<Product>,
    /// When it begins.
    pub starts_at: DateTime<Utc>,
    /// When it ends by itself. `None` if an operator ends it.
    pub ends_at: Option<DateTime<Utc>>,
    /// What integrators read about it.
    pub notice: Option<String>,
    /// Whether it has begun.
    pub is_in_force: bool,
    /// Whether the provider's circuit breaker has made it. Its end is moved as long as the provider stays silent.
    pub by_breaker: bool,
}

/// The pauses of a provider that an operator ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resumed {
    /// All that are in force. Those that are still to come stay.
    InForce,
    /// The one of this number, in force or still to come.
    One(i64),
}

impl Pause {
    /// Whether it forbids a sale of the product by the provider at this moment.
    pub fn covers(&self, product: Product, provider_code: &str, at: DateTime<Utc>) -> bool {
        self.provider_code == provider_code
            && self.product.is_none_or(|paused| paused == product)
            && self.until.is_none_or(|until| at < until)
    }
}

/// Pauses the sales of a provider. From its commit on no server reserves a purchase that the pause covers. What is open
/// already is settled as always. In a rehearsal everything is checked, and undone: the number is given to no pause.
///
/// # Errors
/// [`DatabaseError::Absent`] if there is no such provider, and [`DatabaseError::Rejected`] if the pause would end before it
/// begins, or if the product was never entered.
pub async fn pause_provider(
    database: &Database,
    code: String,
    pause: NewPause,
    is_rehearsal: bool,
    act: AuditContext,
) -> Result<ListedPause, DatabaseError> {
    let entered = database.operate_or_rehearse(is_rehearsal, move |transaction| {
        Box::pin(async move { enter(transaction, code, &pause, &act).await })
    });
    entered.await
}

/// Ends pauses of a provider, and returns them. In a rehearsal everything is checked, and undone.
///
/// # Errors
/// [`DatabaseError::Absent`] if the provider has no such pause.
pub async fn resume_provider(
    database: &Database,
    code: String,
    resumed: Resumed,
    is_rehearsal: bool,
    act: AuditContext,
) -> Result<Vec<ListedPause>, DatabaseError> {
    let ended = database.operate_or_rehearse(is_rehearsal, move |transaction| {
        Box::pin(async move { end(transaction, code, resumed, &act).await })
    });
    ended.await
}

/// The pauses of all providers that are in force or still to come, ordered by provider and beginning.
pub async fn list_pauses(database: &Database) -> Result<Vec<ListedPause>, DatabaseError> {
    database
        .read(move |connection| {
            Box::pin(async move {
                let rows: Vec<PauseRow> = prepared::<ListPauses>().load(connection).await?;
                rows.into_iter().map(ListedPause::try_from).collect()
            })
        })
        .await
}

/// The pauses that are in force by the database's clock.
pub(super) async fn in_force(connection: &Connection) -> Result<Vec<Pause>, DatabaseError> {
    let rows: Vec<PauseRow> = prepared::<ListPauses>().load(connection).await?;
    let in_force = rows.into_iter().filter(|row| row.is_in_force).map(|row| {
        let pause = ListedPause::try_from(row)?;
        let ListedPause { provider_code, product, ends_at, notice, .. } = pause;
        Ok(Pause { provider_code, product, until: ends_at, notice })
    });
    in_force.collect()
}

struct PauseProvider;

impl Statement for PauseProvider {
    const SQL: &str = "-- pause_provider
WITH ended AS (DELETE FROM provider_pauses WHERE provider_code = $1 AND ends_at <= clock_timestamp())
INSERT INTO provider_pauses (provider_code, product, starts_at, ends_at, notice)
SELECT p.code, $2, coalesce($3, clock_timestamp()), $4, $5 FROM providers p WHERE p.code = $1
RETURNING id, provider_code, product, starts_at, ends_at, notice, starts_at <= clock_timestamp() AS is_in_force, by_breaker";
}

struct ResumeProvider;

impl Statement for ResumeProvider {
    const SQL: &str = "-- resume_provider
DELETE FROM provider_pauses
WHERE provider_code = $1 AND (ends_at IS NULL OR ends_at > clock_timestamp())
    AND CASE WHEN $2 IS NULL THEN starts_at <= clock_timestamp() ELSE id = $2 END
RETURNING id, provider_code, product, starts_at, ends_at, notice, starts_at <= clock_timestamp() AS is_in_force, by_breaker";
}

struct ListPauses;

impl Statement for ListPauses {
    const SQL: &str = "-- list_pauses
SELECT id, provider_code, product, starts_at, ends_at, notice, starts_at <= clock_timestamp() AS is_in_force, by_breaker
FROM provider_pauses
WHERE ends_at IS NULL OR ends_at > clock_timestamp()
ORDER BY provider_code, starts_at, id";
}

#[derive(QueryableByName)]
struct PauseRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    provider_code: String,
    #[diesel(sql_type = Nullable<Text>)]
    product: Option<String>,
    #[diesel(sql_type = Timestamptz)]
    starts_at: DateTime<Utc>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    ends_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Nullable<Text>)]
    notice: Option<String>,
    #[diesel(sql_type = Bool)]
    is_in_force: bool,
    #[diesel(sql_type = Bool)]
    by_breaker: bool,
}

impl TryFrom<PauseRow> for ListedPause {
    type Error = DatabaseError;

    fn try_from(row: PauseRow) -> Result<Self, DatabaseError> {
        let corrupt = || DatabaseError::corrupt("provider_pauses", "product", row.id);
        let product = row.product.as_deref().map(|text| Product::parse(text).ok_or_else(corrupt));
        Ok(Self {
            id: row.id,
            product: product.transpose()?,
            provider_code: row.provider_code,
            starts_at: row.starts_at,
            ends_at: row.ends_at,
            notice: row.notice,
            is_in_force: row.is_in_force,
            by_breaker: row.by_breaker,
        })
    }
}

async fn enter(
    transaction: &Transaction,
    code: String,
    pause: &NewPause,
    act: &AuditContext,
) -> Result<ListedPause, DatabaseError> {
    let rows: Vec<PauseRow> = prepared::<PauseProvider>()
        .bind::<Text, _>(code.as_str())
        .bind::<Nullable<Text>, _>(pause.product.map(Product::as_str))
        .bind::<Nullable<Timestamptz>, _>(pause.starts_at)
        .bind::<Nullable<Timestamptz>, _>(pause.ends_at)
        .bind::<Nullable<Text>, _>(pause.notice.as_deref())
        .load(transaction)
        .await?;
    let Some(row) = rows.into_iter().next() else {
        return Err(DatabaseError::Absent { what: "provider", key: code });
    };
    let entered = ListedPause::try_from(row)?;
    append(transaction, line(act, "provider.paused", &entered)).await?;
    Ok(entered)
}

async fn end(
    transaction: &Transaction,
    code: String,
    resumed: Resumed,
    act: &AuditContext,
) -> Result<Vec<ListedPause>, DatabaseError> {
    let number = match resumed {
        Resumed::InForce => None,
        Resumed::One(id) => Some(id),
    };
    let rows: Vec<PauseRow> = prepared::<ResumeProvider>()
        .bind::<Text, _>(code.as_str())
        .bind::<Nullable<BigInt>, _>(number)
        .load(transaction)
        .await?;
    if rows.is_empty() {
        return Err(DatabaseError::Absent { what: "pause of provider", key: code });
    }
    let ended: Vec<ListedPause> = rows.into_iter().map(ListedPause::try_from).collect::<Result<_, _>>()?;
    for pause in &ended {
        append(transaction, line(act, "provider.resumed", pause)).await?;
    }
    Ok(ended)
}

fn line<'a>(act: &'a AuditContext, action: &'static str, pause: &ListedPause) -> AuditEntry<'a> {
    AuditEntry {
        act,
        action,
        organisation_id: None,
        subject: format!("provider:{}", pause.provider_code),
        details: json!({
            "pause": pause.id,
            "product": pause.product.map(Product::as_str),
            "starts_at": pause.starts_at.to_rfc3339(),
            "ends_at": pause.ends_at.map(|at| at.to_rfc3339()),
            "notice": pause.notice,
            "by_breaker": pause.by_breaker,
        }),
    }
}
