//! Circuit breakers: when the sales of a provider that answers nothing are paused without an operator. They stop what is offered;
//! what is open is settled as always.

use std::time::Duration;

use chrono::{DateTime, Utc};
use database::{Database, DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{Bool, Integer, Nullable, SmallInt, Text, Timestamptz},
};
use directory::{AuditContext, AuditEntry, append};
use serde_json::json;
use vend::{Product, SubscriberIdentifier};

mod work;

pub use work::{
    AnswerKind, BreakerTrial, OpenedBreaker, ProviderAnswers, count_provider_answers, end_breaker_pause,
    open_breakers, take_breaker_trials,
};

/// When the sales of a provider are paused because it does not answer, and when they go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breaker {
    /// The breaker opens when this share of the calls, in per cent, has no answer.
    pub silent_percent: u8,
    /// The least number of calls by which it may open.
    pub calls_min: u32,
    /// The calls that have ended within this time are counted.
    pub within: Duration,
    /// How long the sales are paused before the provider is tried.
    pub pause: Duration,
    /// What integrators read about the pause.
    pub notice: Option<String>,
    /// For whom the provider is asked whether it is there again. `None`: it is not asked, and the pause ends by itself.
    pub trial: Option<(Product, SubscriberIdentifier)>,
}

/// A breaker as it is declared, and what it has done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedBreaker {
    /// The provider.
    pub provider_code: String,
    /// What is declared.
    pub breaker: Breaker,
    /// Whether a pause of it is in force.
    pub is_open: bool,
    /// How often it has opened in a row, each time soon after the end of the pause before.
    pub openings: u32,
    /// When it last opened.
    pub opened_at: Option<DateTime<Utc>>,
}

/// All breakers that are declared, ordered by provider.
pub async fn list_breakers(database: &Database) -> Result<Vec<ListedBreaker>, DatabaseError> {
    let rows: Vec<Row> = database
        .read(|connection| Box::pin(async { prepared::<ListBreakers>().load(connection).await }))
        .await?;
    rows.into_iter().map(ListedBreaker::try_from).collect()
}

/// Declares the breaker of a provider, in place of what was declared before. A pause of it that is in force stays.
///
/// # Errors
/// [`DatabaseError::Absent`] if there is no such provider, and [`DatabaseError::Rejected`] if a number is out of its bounds.
pub async fn declare_breaker(
    database: &Database,
    provider_code: String,
    breaker: Breaker,
    act: AuditContext,
) -> Result<(), DatabaseError> {
    let declared = database.operate(move |transaction| {
        Box::pin(async move {
            let trial = breaker.trial.as_ref();
            let declare = prepared::<DeclareBreaker>()
                .bind::<Text, _>(provider_code.as_str())
                .bind::<SmallInt, _>(i16::from(breaker.silent_percent))
                .bind::<Integer, _>(i32::try_from(breaker.calls_min).unwrap_or(i32::MAX))
                .bind::<Integer, _>(seconds(breaker.within))
                .bind::<Integer, _>(seconds(breaker.pause))
                .bind::<Nullable<Text>, _>(breaker.notice.as_deref())
                .bind::<Nullable<Text>, _>(trial.map(|(product, _)| product.as_str()))
                .bind::<Nullable<Text>, _>(trial.map(|(_, subscriber)| subscriber.as_str()));
            if declare.execute(transaction).await? == 0 {
                return Err(DatabaseError::Absent { what: "provider", key: provider_code });
            }
            let entry = AuditEntry {
                act: &act,
                action: "provider.breaker_declared",
                organisation_id: None,
                subject: format!("provider:{provider_code}"),
                details: json!({
                    "silent_percent": breaker.silent_percent,
                    "calls": breaker.calls_min,
                    "within_s": breaker.within.as_secs(),
                    "pause_s": breaker.pause.as_secs(),
                    "notice": breaker.notice,
                    "trial_product": trial.map(|(product, _)| product.as_str()),
                    "is_tried": trial.is_some(),
                }),
            };
            append(transaction, entry).await
        })
    });
    declared.await
}

/// Removes the breaker of a provider. A pause of it that is in force ends by itself.
///
/// # Errors
/// [`DatabaseError::Absent`] if the provider has no breaker.
pub async fn remove_breaker(
    database: &Database,
    provider_code: String,
    act: AuditContext,
) -> Result<(), DatabaseError> {
    let removed = database.operate(move |transaction| {
        Box::pin(async move {
            let remove = prepared::<RemoveBreaker>().bind::<Text, _>(provider_code.as_str());
            if remove.execute(transaction).await? == 0 {
                return Err(DatabaseError::Absent { what: "breaker of provider", key: provider_code });
            }
            let entry = AuditEntry {
                act: &act,
                action: "provider.breaker_removed",
                organisation_id: None,
                subject: format!("provider:{provider_code}"),
                details: json!({}),
            };
            append(transaction, entry).await
        })
    });
    removed.await
}

struct ListBreakers;

impl Statement for ListBreakers {
    const SQL: &str = "-- list_breakers
SELECT b.provider_code, b.silent_percent, b.calls_min, b.within_s, b.pause_s, b.notice, b.trial_product, b.trial_subscriber,
    b.openings, b.opened_at, EXISTS (
        SELECT FROM provider_pauses p
        WHERE p.provider_code = b.provider_code AND p.by_breaker AND p.ends_at > clock_timestamp()
    ) AS is_open
FROM provider_breakers b ORDER BY b.provider_code";
}

struct DeclareBreaker;

impl Statement for DeclareBreaker {
    const SQL: &str = "-- declare_breaker
INSERT INTO provider_breakers (provider_code, silent_percent, calls_min, within_s, pause_s, notice, trial_product, trial_subscriber)
SELECT p.code, $2, $3, $4, $5, $6, $7, $8 FROM providers p WHERE p.code = $1
ON CONFLICT (provider_code) DO UPDATE SET silent_percent = excluded.silent_percent, calls_min = excluded.calls_min,
    within_s = excluded.within_s, pause_s = excluded.pause_s, notice = excluded.notice, trial_product = excluded.trial_product,
    trial_subscriber = excluded.trial_subscriber";
}

struct RemoveBreaker;

impl Statement for RemoveBreaker {
    const SQL: &str = "-- remove_breaker
DELETE FROM provider_breakers WHERE provider_code = $1";
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = Text)]
    provider_code: String,
    #[diesel(sql_type = SmallInt)]
    silent_percent: i16,
    #[diesel(sql_type = Integer)]
    calls_min: i32,
    #[diesel(sql_type = Integer)]
    within_s: i32,
    #[diesel(sql_type = Integer)]
    pause_s: i32,
    #[diesel(sql_type = Nullable<Text>)]
    notice: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    trial_product: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    trial_subscriber: Option<String>,
    #[diesel(sql_type = Integer)]
    openings: i32,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    opened_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Bool)]
    is_open: bool,
}

impl TryFrom<Row> for ListedBreaker {
    type Error = DatabaseError;

    fn try_from(row: Row) -> Result<Self, DatabaseError> {
        let trial = row.trial_product.zip(row.trial_subscriber);
        let breaker = Breaker {
            silent_percent: u8::try_from(row.silent_percent)
                .map_err(|_negative| DatabaseError::corrupt("provider_breakers", "silent_percent", 0))?,
            calls_min: row.calls_min.unsigned_abs(),
            within: length(row.within_s),
            pause: length(row.pause_s),
            notice: row.notice,
            trial: trial.map(|(product, subscriber)| read_trial(&product, &subscriber)).transpose()?,
        };
        Ok(Self {
            provider_code: row.provider_code,
            breaker,
            is_open: row.is_open,
            openings: row.openings.unsigned_abs(),
            opened_at: row.opened_at,
        })
    }
}

fn read_trial(product: &str, subscriber: &str) -> Result<(Product, SubscriberIdentifier), DatabaseError> {
    let corrupt = |column| DatabaseError::corrupt("provider_breakers", column, 0);
    let product = Product::parse(product).ok_or_else(|| corrupt("trial_product"))?;
    let subscriber =
        SubscriberIdentifier::parse(subscriber).map_err(|_malformed| corrupt("trial_subscriber"))?;
    Ok((product, subscriber))
}

/// The database keeps it positive.
fn length(seconds: i32) -> Duration {
    Duration::from_secs(u64::from(seconds.unsigned_abs()))
}

fn seconds(length: Duration) -> i32 {
    i32::try_from(length.as_secs()).unwrap_or(i32::MAX)
}
