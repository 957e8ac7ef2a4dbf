//! How much waits, and for how long: what an operator looks at first.

use std::time::Duration;

use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Nullable, Text};
use diesel_async::RunQueryDsl;
use purchase::StateName;

use crate::statement::{Statement, prepared};
use crate::{Store, StoreError, measures};

/// Everything that waits, at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenWork {
    /// Purchases by state, those of which there are none left out.
    pub purchases: Vec<(StateName, Pile)>,
    /// How long the purchase that the worker should have looked at first has been waiting for that.
    pub overdue: Duration,
    /// Messages that are owed.
    pub outbox: Pile,
    /// Vends that came too late, and that nobody has dealt with.
    pub incidents: Pile,
}

/// Things that wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pile {
    /// How many.
    pub waiting: u32,
    /// How long the oldest of them has been waiting.
    pub oldest: Duration,
}

struct CountOpen;

impl Statement for CountOpen {
    const SQL: &str = include_str!("sql/count_open.sql");
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = Text)]
    pile: String,
    #[diesel(sql_type = Text)]
    what: String,
    #[diesel(sql_type = BigInt)]
    waiting: i64,
    #[diesel(sql_type = Nullable<BigInt>)]
    oldest_s: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    overdue_s: Option<i64>,
}

impl Store {
    /// Counts what waits: purchases that are open, messages that are owed, incidents.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn count_open(&self) -> Result<OpenWork, StoreError> {
        let rows: Vec<Row> = self
            .read(|connection| Box::pin(async { Ok(prepared::<CountOpen>().load(connection).await?) }))
            .await?;
        let mut open = OpenWork::default();
        for row in rows {
            open.add(&row)?;
        }
        Ok(open)
    }
}

impl OpenWork {
    /// Sets the gauges of this process to it.
    pub fn show(&self) {
        measures::waiting(self);
    }

    /// What waits in this state.
    pub fn in_state(&self, state: StateName) -> Pile {
        let found = self.purchases.iter().find(|(name, _)| *name == state);
        found.map_or_else(Pile::default, |(_, pile)| *pile)
    }

    fn add(&mut self, row: &Row) -> Result<(), StoreError> {
        let pile =
            Pile { waiting: u32::try_from(row.waiting).unwrap_or(u32::MAX), oldest: seconds(row.oldest_s) };
        match row.pile.as_str() {
            "PURCHASES" => {
                let state = StateName::parse(&row.what);
                let state = state.ok_or_else(|| StoreError::corrupt("purchases", "state", &row.what))?;
                self.purchases.push((state, pile));
                self.overdue = self.overdue.max(seconds(row.overdue_s));
            }
            "OUTBOX" => self.outbox = pile,
            _incidents => self.incidents = pile,
        }
        Ok(())
    }
}

/// What is due in the future is not overdue.
fn seconds(length: Option<i64>) -> Duration {
    Duration::from_secs(length.and_then(|seconds| u64::try_from(seconds).ok()).unwrap_or_default())
}
