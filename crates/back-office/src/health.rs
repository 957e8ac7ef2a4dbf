//! What the database says about itself: its size, its standbys, the archive of its write-ahead log, and its clock. The free space of its
//! disk, its memory and its processors are not known to it.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use database::{Database, DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Bool, Nullable, Timestamptz},
};

use crate::measures;

/// What was seen in one look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatabaseHealth {
    /// The size of the database, without the write-ahead log.
    pub megabytes: u32,
    /// Standbys and receivers of the log whose position this login may see.
    pub standbys_seen: u32,
    /// Those whose position it may not see.
    pub standbys_unseen: u32,
    /// How much of the log the furthest of those seen has not stored yet.
    pub behind_megabytes: u32,
    /// How long ago a part of the log was archived. Zero if the database archives none itself.
    pub unarchived: Duration,
    /// The last attempt to archive has failed.
    pub archive_fails: bool,
    /// How far the clocks of this process and the database are apart at least.
    pub clocks_apart: Duration,
}

struct ReadHealth;

impl Statement for ReadHealth {
    const SQL: &str = include_str!("database_health.sql");
}

struct ReadClock;

impl Statement for ReadClock {
    const SQL: &str = "-- read_clock\nSELECT clock_timestamp() AS at";
}

#[derive(QueryableByName)]
struct ClockRow {
    #[diesel(sql_type = Timestamptz)]
    at: DateTime<Utc>,
}

#[derive(QueryableByName)]
struct HealthRow {
    #[diesel(sql_type = BigInt)]
    megabytes: i64,
    #[diesel(sql_type = BigInt)]
    standbys_seen: i64,
    #[diesel(sql_type = BigInt)]
    standbys_unseen: i64,
    #[diesel(sql_type = BigInt)]
    behind_megabytes: i64,
    #[diesel(sql_type = Nullable<BigInt>)]
    unarchived_s: Option<i64>,
    #[diesel(sql_type = Bool)]
    archive_fails: bool,
}

/// Asks the database about itself. `now` is the clock of this process.
///
/// # Errors
/// If the database does not answer.
pub async fn read_database_health(
    database: &Database,
    now: impl Fn() -> DateTime<Utc>,
) -> Result<DatabaseHealth, DatabaseError> {
    let before = now();
    let clock: Vec<ClockRow> = database
        .read(|connection| Box::pin(async { prepared::<ReadClock>().load(connection).await }))
        .await?;
    let after = now();
    let clocks_apart = clock.first().map_or(Duration::ZERO, |row| apart(row.at, before, after));
    let rows: Vec<HealthRow> = database
        .read(|connection| Box::pin(async { prepared::<ReadHealth>().load(connection).await }))
        .await?;
    let row = rows.into_iter().next();
    let row = row.ok_or(DatabaseError::Absent { what: "answer about", key: "the database".to_owned() })?;
    let whole = |number: i64| u32::try_from(number.max(0)).unwrap_or(u32::MAX);
    Ok(DatabaseHealth {
        megabytes: whole(row.megabytes),
        standbys_seen: whole(row.standbys_seen),
        standbys_unseen: whole(row.standbys_unseen),
        behind_megabytes: whole(row.behind_megabytes),
        unarchived: Duration::from_secs(row.unarchived_s.unwrap_or_default().try_into().unwrap_or_default()),
        archive_fails: row.archive_fails,
        clocks_apart,
    })
}

impl DatabaseHealth {
    /// Sets the gauges of this process to these values.
    pub fn show(&self) {
        measures::database(self);
    }
}

/// How far a clock is apart at least that was read at some moment between these two. A slow answer is no difference.
fn apart(read: DateTime<Utc>, before: DateTime<Utc>, after: DateTime<Utc>) -> Duration {
    let beyond = (before - read).max(read - after).max(TimeDelta::zero());
    beyond.to_std().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_apart_by_what_the_duration_of_the_answer_does_not_explain() {
        let at = |seconds: i64| DateTime::from_timestamp(1_795_167_000 + seconds, 0).unwrap();
        for (read, expected) in [(0, 0), (3, 0), (5, 0), (9, 4), (-2, 2)] {
            assert_eq!(apart(at(read), at(0), at(5)), Duration::from_secs(expected), "{read}");
        }
    }
}
