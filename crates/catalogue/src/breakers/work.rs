//! What programs do for the breakers: they add what they have counted of providers' answers, and a worker opens breakers and tries
//! providers. Each is one statement, and any number of processes may run it at the same time.

use std::time::Duration;

use chrono::{DateTime, Utc};
use database::{Database, DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{Array, BigInt, Bool, Text, Timestamptz},
};
use vend::{Product, SubscriberIdentifier};

use super::read_trial;

/// What a provider was called for. A provider may answer questions and no vends, so the two are never added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerKind {
    /// A customer check, a quote or a trial.
    Question,
    /// An order.
    Vend,
}

/// What a process has counted of the answers of a provider, of calls that began at about the same time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderAnswers {
    /// The provider.
    pub provider_code: String,
    /// What it was called for.
    pub kind: AnswerKind,
    /// How long ago the earliest of these calls began.
    pub age: Duration,
    /// Calls that it answered, with whatever answer.
    pub answered: u32,
    /// Calls that it did not answer.
    pub silent: u32,
}

/// A breaker that has just opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenedBreaker {
    /// The provider.
    pub provider_code: String,
    /// What it did not answer.
    pub kind: AnswerKind,
    /// The calls that were counted.
    pub calls: i64,
    /// Those without an answer.
    pub silent: i64,
    /// When the pause ends, unless a worker moves its end.
    pub until: DateTime<Utc>,
}

/// A question that decides whether the sales of a paused provider go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BreakerTrial {
    /// The number of the pause.
    pub pause: i64,
    /// The provider.
    pub provider_code: String,
    /// The product of the subscriber.
    pub product: Product,
    /// About whom the provider is asked.
    pub subscriber: SubscriberIdentifier,
}

/// Adds what this process has counted. Calls that began before the last pause of the breaker ended are left out, and so are those of
/// providers without a breaker. Returns whether any provider has one. What is lost here is only seen later.
pub async fn count_provider_answers(
    database: &Database,
    counted: Vec<ProviderAnswers>,
) -> Result<bool, DatabaseError> {
    let rows: Vec<WantedRow> = database
        .write_alone(move |connection| {
            Box::pin(async move {
                let codes: Vec<&str> = counted.iter().map(|one| one.provider_code.as_str()).collect();
                let kinds: Vec<&str> = counted.iter().map(|one| one.kind.as_str()).collect();
                let ages = counted.iter().map(|one| i64::try_from(one.age.as_millis()).unwrap_or(i64::MAX));
                prepared::<CountAnswers>()
                    .bind::<Array<Text>, _>(codes)
                    .bind::<Array<Text>, _>(kinds)
                    .bind::<Array<BigInt>, _>(ages.collect::<Vec<_>>())
                    .bind::<Array<BigInt>, _>(
                        counted.iter().map(|one| i64::from(one.answered)).collect::<Vec<_>>(),
                    )
                    .bind::<Array<BigInt>, _>(
                        counted.iter().map(|one| i64::from(one.silent)).collect::<Vec<_>>(),
                    )
                    .load(connection)
                    .await
            })
        })
        .await?;
    Ok(rows.into_iter().any(|row| row.is_wanted))
}

/// Pauses the sales of each provider that has been silent too often, and returns these providers.
pub async fn open_breakers(database: &Database) -> Result<Vec<OpenedBreaker>, DatabaseError> {
    let rows: Vec<OpenedRow> = database
        .operate(|transaction| Box::pin(async { prepared::<OpenBreakers>().load(transaction).await }))
        .await?;
    rows.into_iter().map(OpenedBreaker::try_from).collect()
}

/// Takes the trials that are due, of these providers. The pause of each goes on meanwhile, and no other worker makes the same trial.
pub async fn take_breaker_trials(
    database: &Database,
    connected: Vec<String>,
) -> Result<Vec<BreakerTrial>, DatabaseError> {
    let rows: Vec<TrialRow> = database
        .operate(move |transaction| {
            Box::pin(async move {
                prepared::<TakeTrials>().bind::<Array<Text>, _>(connected).load(transaction).await
            })
        })
        .await?;
    rows.into_iter().map(BreakerTrial::try_from).collect()
}

/// Ends a pause that a breaker has made. It ends no pause of an operator. Returns whether there was one of this number.
pub async fn end_breaker_pause(database: &Database, pause: i64) -> Result<bool, DatabaseError> {
    let rows: Vec<EndedRow> = database
        .operate(move |transaction| {
            Box::pin(
                async move { prepared::<EndBreakerPause>().bind::<BigInt, _>(pause).load(transaction).await },
            )
        })
        .await?;
    Ok(rows.into_iter().any(|row| row.has_ended))
}

impl AnswerKind {
    const ALL: [Self; 2] = [Self::Question, Self::Vend];

    /// As it is stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Question => "QUESTION",
            Self::Vend => "VEND",
        }
    }
}

struct CountAnswers;

impl Statement for CountAnswers {
    const SQL: &str = "-- count_provider_answers
SELECT count_provider_answers($1, $2, $3, $4, $5) AS is_wanted";
}

struct OpenBreakers;

impl Statement for OpenBreakers {
    const SQL: &str = "-- open_breakers
SELECT provider, kind, calls, silent, ends_at FROM open_breakers()";
}

struct TakeTrials;

impl Statement for TakeTrials {
    const SQL: &str = "-- take_breaker_trials
SELECT pause, provider, product, subscriber FROM take_breaker_trials($1)";
}

struct EndBreakerPause;

impl Statement for EndBreakerPause {
    const SQL: &str = "-- end_breaker_pause
SELECT end_breaker_pause($1) AS has_ended";
}

#[derive(QueryableByName)]
struct WantedRow {
    #[diesel(sql_type = Bool)]
    is_wanted: bool,
}

#[derive(QueryableByName)]
struct EndedRow {
    #[diesel(sql_type = Bool)]
    has_ended: bool,
}

#[derive(QueryableByName)]
struct OpenedRow {
    #[diesel(sql_type = Text)]
    provider: String,
    #[diesel(sql_type = Text)]
    kind: String,
    #[diesel(sql_type = BigInt)]
    calls: i64,
    #[diesel(sql_type = BigInt)]
    silent: i64,
    #[diesel(sql_type = Timestamptz)]
    ends_at: DateTime<Utc>,
}

#[derive(QueryableByName)]
struct TrialRow {
    #[diesel(sql_type = BigInt)]
    pause: i64,
    #[diesel(sql_type = Text)]
    provider: String,
    #[diesel(sql_type = Text)]
    product: String,
    #[diesel(sql_type = Text)]
    subscriber: String,
}

impl TryFrom<OpenedRow> for OpenedBreaker {
    type Error = DatabaseError;

    fn try_from(row: OpenedRow) -> Result<Self, DatabaseError> {
        let kind = AnswerKind::ALL.into_iter().find(|kind| kind.as_str() == row.kind);
        Ok(Self {
            kind: kind.ok_or_else(|| DatabaseError::corrupt("provider_answers", "kind", 0))?,
            provider_code: row.provider,
            calls: row.calls,
            silent: row.silent,
            until: row.ends_at,
        })
    }
}

impl TryFrom<TrialRow> for BreakerTrial {
    type Error = DatabaseError;

    fn try_from(row: TrialRow) -> Result<Self, DatabaseError> {
        let (product, subscriber) = read_trial(&row.product, &row.subscriber)?;
        Ok(Self { pause: row.pause, provider_code: row.provider, product, subscriber })
    }
}
