//! Our float at providers, as their protocols tell it, and below what an operator wants to know of it.

use std::time::Duration;

use chrono::{DateTime, Utc};
use database::{Database, DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Nullable, Text, Timestamptz},
};
use directory::{AuditContext, AuditEntry, append};
use money::{Currency, Money};
use serde_json::json;

use crate::read_currency;

/// Our float at a provider in one currency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedFloat {
    /// The provider.
    pub provider_code: String,
    /// The currency.
    pub currency: Currency,
    /// What is left, as the provider last reported it, and when. `None` if it never did.
    pub told: Option<(Money, DateTime<Utc>)>,
    /// How long ago that was, by the database's clock.
    pub age: Option<Duration>,
    /// The operator wants to know when less is left.
    pub low_below: Option<Money>,
}

impl ListedFloat {
    /// Whether less is left than the operator wants.
    pub fn is_low(&self) -> bool {
        let left = self.told.map(|(left, _)| left.minor());
        left.zip(self.low_below).is_some_and(|(left, limit)| left < limit.minor())
    }
}

struct ListFloats;

impl Statement for ListFloats {
    const SQL: &str = "-- list_floats
SELECT provider_code, currency, amount, told_at, extract(epoch FROM now() - told_at)::bigint AS age_s, low_below
FROM provider_floats ORDER BY provider_code, currency";
}

struct RecordFloat;

impl Statement for RecordFloat {
    const SQL: &str = "-- record_float
INSERT INTO provider_floats (provider_code, currency, amount, told_at)
SELECT p.code, $2, $3, clock_timestamp() - make_interval(secs => $4 / 1000.0) FROM providers p WHERE p.code = $1
ON CONFLICT (provider_code, currency) DO UPDATE SET amount = excluded.amount, told_at = excluded.told_at
WHERE provider_floats.told_at IS NULL OR provider_floats.told_at < excluded.told_at";
}

struct SetFloatLimit;

impl Statement for SetFloatLimit {
    const SQL: &str = "-- set_float_limit
INSERT INTO provider_floats (provider_code, currency, low_below)
SELECT p.code, $2, $3 FROM providers p WHERE p.code = $1
ON CONFLICT (provider_code, currency) DO UPDATE SET low_below = excluded.low_below";
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = Text)]
    provider_code: String,
    #[diesel(sql_type = Text)]
    currency: String,
    #[diesel(sql_type = Nullable<BigInt>)]
    amount: Option<i64>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    told_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Nullable<BigInt>)]
    age_s: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    low_below: Option<i64>,
}

/// All floats that were reported, or have a limit.
pub async fn list_floats(database: &Database) -> Result<Vec<ListedFloat>, DatabaseError> {
    let rows: Vec<Row> = database
        .read(|connection| Box::pin(async { prepared::<ListFloats>().load(connection).await }))
        .await?;
    rows.into_iter().map(ListedFloat::try_from).collect()
}

/// Stores what a provider reported, and how long ago. Nothing is stored if it has reported something since, or was never
/// entered. `age` is asked for when it is written, because a connection may have to be waited for.
pub async fn record_float(
    database: &Database,
    provider_code: String,
    left: Money,
    age: impl Fn() -> Duration + Send + Sync + 'static,
) -> Result<(), DatabaseError> {
    let recorded = database.operate(move |transaction| {
        let age_ms = i64::try_from(age().as_millis()).unwrap_or(i64::MAX);
        Box::pin(async move {
            let currency = left.currency();
            let record = prepared::<RecordFloat>()
                .bind::<Text, _>(provider_code.as_str())
                .bind::<Text, _>(currency.as_str())
                .bind::<BigInt, _>(left.minor())
                .bind::<BigInt, _>(age_ms);
            record.execute(transaction).await
        })
    });
    recorded.await.map(drop)
}

/// Sets below what the operator wants to know of our float at a provider, or that nothing is said.
///
/// # Errors
/// [`DatabaseError::Absent`] if there is no such provider.
pub async fn set_float_limit(
    database: &Database,
    provider_code: String,
    currency: Currency,
    low_below: Option<Money>,
    act: AuditContext,
) -> Result<(), DatabaseError> {
    let set = database.operate(move |transaction| {
        Box::pin(async move {
            let set = prepared::<SetFloatLimit>()
                .bind::<Text, _>(provider_code.as_str())
                .bind::<Text, _>(currency.as_str())
                .bind::<Nullable<BigInt>, _>(low_below.map(Money::minor));
            if set.execute(transaction).await? == 0 {
                return Err(DatabaseError::Absent { what: "provider", key: provider_code });
            }
            let entry = AuditEntry {
                act: &act,
                action: "provider.float_limit_set",
                organisation_id: None,
                subject: format!("provider:{provider_code}"),
                details: json!({
                    "currency": currency.as_str(),
                    "low_below": low_below.map(|limit| limit.to_string()),
                }),
            };
            append(transaction, entry).await
        })
    });
    set.await
}

impl TryFrom<Row> for ListedFloat {
    type Error = DatabaseError;

    fn try_from(row: Row) -> Result<Self, DatabaseError> {
        let currency = read_currency("provider_floats", 0, &row.currency)?;
        let money = |minor: i64| Money::from_minor(minor, currency);
        Ok(Self {
            currency,
            told: row.amount.map(money).zip(row.told_at),
            age: row.age_s.map(|seconds| Duration::from_secs(u64::try_from(seconds).unwrap_or_default())),
            low_below: row.low_below.map(money),
            provider_code: row.provider_code,
        })
    }
}
