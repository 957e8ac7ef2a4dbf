//! A batch as a whole.

use chrono::{DateTime, Utc};
use ledger::AccountId;
use money::Money;

/// How many batches of an organisation may be unfinished at a time.
pub const OPEN_BATCHES_MAX: u16 = 20;

/// The longest reference of a batch, in characters. The references of its lines begin with it.
pub const REFERENCE_MAX: usize = 64;

/// The number of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BatchId(pub i64);

/// What a batch does now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchStatus {
    /// Its lines are bought.
    Running,
    /// No line is begun.
    Paused,
    /// No line is begun any more, and what was begun comes to its end.
    Cancelling,
    /// All of its lines have ended.
    Finished,
}

impl BatchStatus {
    /// Every status.
    pub const ALL: [Self; 4] = [Self::Running, Self::Paused, Self::Cancelling, Self::Finished];

    /// The name on the wire and in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "RUNNING",
            Self::Paused => "PAUSED",
            Self::Cancelling => "CANCELLING",
            Self::Finished => "FINISHED",
        }
    }
}

/// Why no line of a batch is begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PausedBecause {
    /// Its organisation wants it so.
    Requested,
    /// Its client, its user or its organisation may not buy any more.
    NotAuthorised,
    /// The database was restored, or another server took over. What was bought last may be lost.
    DatabaseChanged,
}

impl PausedBecause {
    /// Every reason.
    pub const ALL: [Self; 3] = [Self::Requested, Self::NotAuthorised, Self::DatabaseChanged];

    /// The name on the wire and in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Requested => "REQUESTED",
            Self::NotAuthorised => "NOT_AUTHORISED",
            Self::DatabaseChanged => "DATABASE_CHANGED",
        }
    }
}

/// What has become of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineState {
    /// It is bought later.
    Waiting,
    /// A worker buys it.
    Buying,
    /// It is bought, and the outcome of its purchase is not known yet.
    Pending,
    /// It is sold.
    Successful,
    /// It was not sold.
    Failed,
    /// It was not begun when the batch was cancelled.
    Cancelled,
}

impl LineState {
    /// Every state.
    pub const ALL: [Self; 6] =
        [Self::Waiting, Self::Buying, Self::Pending, Self::Successful, Self::Failed, Self::Cancelled];

    /// The name on the wire and in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "WAITING",
            Self::Buying => "BUYING",
            Self::Pending => "PENDING",
            Self::Successful => "SUCCESSFUL",
            Self::Failed => "FAILED",
            Self::Cancelled => "CANCELLED",
        }
    }
}

/// How many lines are in a state, and the sum of their amounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The state.
    pub state: LineState,
    /// How many lines.
    pub lines: u32,
    /// The sum of their amounts, without charges.
    pub amount: Money,
}

/// A batch, and how far it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Its number.
    pub id: BatchId,
    /// The integrator's own name for it.
    pub reference: String,
    /// The wallet that pays.
    pub account: AccountId,
    /// The sum of the amounts of all lines, without charges.
    pub amount: Money,
    /// How many lines it has.
    pub lines: u32,
    /// What it does now.
    pub status: BatchStatus,
    /// Since when.
    pub status_since: DateTime<Utc>,
    /// Why no line is begun, if it is paused.
    pub paused_because: Option<PausedBecause>,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// Its lines by state, one share for each state.
    pub progress: Vec<Share>,
}
