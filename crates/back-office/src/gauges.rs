//! How much work waits, and for how long. An operator looks at this first.

use std::time::Duration;

use database::{Database, DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Nullable, Text},
};
use purchase::StateName;

use crate::measures;

/// All waiting work at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenWork {
    /// Open purchases by state. States without purchases are left out.
    pub purchases: Vec<(StateName, Backlog)>,
    /// How long the most overdue purchase has waited for the worker.
    pub overdue: Duration,
    /// Messages that wait to be sent.
    pub outbox: Backlog,
    /// Incidents without a decision: vends that came too late.
    pub incidents: Backlog,
    /// Discrepancies with statements of providers that are not decided.
    pub discrepancies: OpenDiscrepancies,
    /// How long ago the last reconciled period of a provider ended, of the provider that is furthest behind.
    pub unreconciled: Duration,
    /// Organisations with events of the feed that cannot be read yet, because an older transaction is open.
    pub held_back: Backlog,
    /// Webhook endpoints that accept what they are sent, and for which an event waits to be sent.
    pub webhooks: Backlog,
}

/// Discrepancies that are not decided, by what they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenDiscrepancies {
    /// A statement has a vend that no purchase asked for.
    pub only_theirs: Backlog,
    /// No statement has the vend of a purchase, as the provider reported it.
    pub only_ours: Backlog,
    /// No statement has the vend of a purchase, as a person entered it.
    pub only_ours_by_hand: Backlog,
    /// Both have a vend, and differ.
    pub different: Backlog,
}

/// Waiting items of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// How many items wait.
    pub waiting: u32,
    /// How long the oldest item has waited.
    pub oldest: Duration,
}

struct CountOpen;

impl Statement for CountOpen {
    const SQL: &str = include_str!("count_open.sql");
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = Text)]
    backlog: String,
    #[diesel(sql_type = Text)]
    what: String,
    #[diesel(sql_type = BigInt)]
    waiting: i64,
    #[diesel(sql_type = Nullable<BigInt>)]
    oldest_s: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    overdue_s: Option<i64>,
}

/// Counts the waiting work: open purchases, messages that are owed, incidents, discrepancies, and events that are held
/// back.
///
/// # Errors
/// If the database does not answer.
pub async fn count_open(database: &Database) -> Result<OpenWork, DatabaseError> {
    let rows: Vec<Row> = database
        .read(|connection| Box::pin(async { prepared::<CountOpen>().load(connection).await }))
        .await?;
    let mut open = OpenWork::default();
    for row in rows {
        open.add(&row)?;
    }
    Ok(open)
}

impl OpenWork {
    /// Sets the gauges of this process to these values.
    pub fn show(&self) {
        measures::waiting(self);
    }

    /// The backlog of this state.
    pub fn in_state(&self, state: StateName) -> Backlog {
        let found = self.purchases.iter().find(|(name, _)| *name == state);
        found.map_or_else(Backlog::default, |(_, backlog)| *backlog)
    }

    fn add(&mut self, row: &Row) -> Result<(), DatabaseError> {
        let backlog = Backlog {
            waiting: u32::try_from(row.waiting).unwrap_or(u32::MAX),
            oldest: seconds(row.oldest_s),
        };
        match row.backlog.as_str() {
            "PURCHASES" => {
                let state = StateName::parse(&row.what);
                let state = state.ok_or_else(|| DatabaseError::corrupt("purchases", "state", &row.what))?;
                self.purchases.push((state, backlog));
                self.overdue = self.overdue.max(seconds(row.overdue_s));
            }
            "OUTBOX" => self.outbox = backlog,
            "FEED" => self.held_back = backlog,
            "WEBHOOKS" => self.webhooks = backlog,
            "RECONCILED" => self.unreconciled = self.unreconciled.max(backlog.oldest),
            "DISCREPANCIES" => *self.discrepancies.backlog(&row.what) = backlog,
            _incidents => self.incidents = backlog,
        }
        Ok(())
    }
}

impl OpenDiscrepancies {
    fn backlog(&mut self, kind: &str) -> &mut Backlog {
        match kind {
            "ONLY_THEIRS" => &mut self.only_theirs,
            "ONLY_OURS" => &mut self.only_ours,
            "DIFFERENT" => &mut self.different,
            _by_hand => &mut self.only_ours_by_hand,
        }
    }

    /// The label and the backlog of each kind.
    pub(crate) const fn by_kind(&self) -> [(&'static str, Backlog); 4] {
        [
            ("only_theirs", self.only_theirs),
            ("only_ours", self.only_ours),
            ("only_ours_by_hand", self.only_ours_by_hand),
            ("different", self.different),
        ]
    }
}

/// An item that is due in the future is not overdue.
fn seconds(length: Option<i64>) -> Duration {
    Duration::from_secs(length.and_then(|seconds| u64::try_from(seconds).ok()).unwrap_or_default())
}
