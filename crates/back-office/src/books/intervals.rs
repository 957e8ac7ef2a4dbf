//! The parts of a report: each lies between two trial balances that follow each other.

use chrono::{DateTime, NaiveDate, Utc};
use database::{DatabaseError, Run, Statement, prepared};
use diesel::{QueryableByName, sql_types::Timestamptz};
use purchase::ReportedDay;
use store::Store;

struct BookStops;

impl Statement for BookStops {
    const SQL: &str = "-- book_stops
SELECT at FROM trial_balances WHERE at > $1 AND at < $2 ORDER BY at";
}

#[derive(QueryableByName)]
struct StopRow {
    #[diesel(sql_type = Timestamptz)]
    at: DateTime<Utc>,
}

/// What lies between two trial balances, on one day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) date: NaiveDate,
    pub(super) since: DateTime<Utc>,
    /// `None` if the day has not ended.
    pub(super) until: Option<DateTime<Utc>>,
}

/// Those of these days, which follow each other, up to the first day that has not ended. Makes the trial balances between them. None if
/// the first day has not begun.
pub(super) async fn intervals(store: &Store, days: &[ReportedDay]) -> Result<Vec<Interval>, DatabaseError> {
    let mut intervals = Vec::new();
    let Some(first) = days.first() else { return Ok(intervals) };
    if !store.strike_trial_balance(first.period.from).await? {
        return Ok(intervals);
    }
    for day in days {
        let until = store.strike_trial_balance(day.period.to).await?.then_some(day.period.to);
        let mut since = day.period.from;
        for stop in stops(store, day.period.from, day.period.to).await? {
            intervals.push(Interval { date: day.date, since, until: Some(stop) });
            since = stop;
        }
        intervals.push(Interval { date: day.date, since, until });
        if until.is_none() {
            break;
        }
    }
    Ok(intervals)
}

/// The trial balances within a day. Between two of them lies no more than one statement adds up.
pub(super) async fn stops(
    store: &Store,
    from: DateTime<Utc>,
    to: DateTime<Utc>,
) -> Result<Vec<DateTime<Utc>>, DatabaseError> {
    let rows = store.database().read(move |connection| {
        let stops = prepared::<BookStops>().bind::<Timestamptz, _>(from).bind::<Timestamptz, _>(to);
        Box::pin(async move { stops.load::<StopRow>(connection).await })
    });
    Ok(rows.await?.into_iter().map(|row| row.at).collect())
}
