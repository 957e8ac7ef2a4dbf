//! The answers of the aggregator, as values.

use chrono::{DateTime, FixedOffset};
use clock::Monotonic;
use serde::{Deserialize, Serialize};

use super::{Order, Rejection};
use crate::{memory::Remembered, meter::MeterData, tariff::Limits};

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) reply: Reply,
}

/// The answer to each operation.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    Customer { meter: Box<MeterData>, can_vend: bool, limits: Limits },
    NoSuchCustomer { why: String },
    Transaction(Box<Statement>),
    Rejection(Rejection),
}

/// A transaction as the aggregator stores it.
#[derive(Clone, Debug)]
pub(crate) struct Transaction {
    /// The aggregator's number for it.
    pub(super) number: i64,
    pub(super) order: Order,
    pub(super) at: DateTime<FixedOffset>,
    pub(super) course: Course,
    /// In the order of entry. Empty if nothing is sold.
    pub(super) tokens: Vec<String>,
    /// Tenths of a kWh.
    pub(super) tenths: u64,
}

/// The course of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Course {
    /// It was finished when it was answered.
    Done,
    /// It is in progress until that time.
    UnderWay { until: Monotonic, ending: Ending },
    /// It failed.
    Failed,
}

/// The final state of a transaction that was in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ending {
    Delivered,
    Failed,
    Reversed,
}

/// The state of a transaction at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Pending,
    Ended(Ending),
}

/// A transaction with its state at some time. A script may have falsified it.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub(super) transaction: Transaction,
    pub(super) state: State,
    /// Absent only if a script removed it.
    pub(super) request_id: Option<String>,
}

impl Transaction {
    pub(super) fn statement(&self, now: Monotonic) -> Statement {
        let state = match self.course {
            Course::Done => State::Ended(Ending::Delivered),
            Course::UnderWay { until, .. } if now < until => State::Pending,
            Course::UnderWay { ending, .. } => State::Ended(ending),
            Course::Failed => State::Ended(Ending::Failed),
        };
        Statement { transaction: self.clone(), state, request_id: Some(self.order.request_id.clone()) }
    }
}

impl Course {
    /// Whether the meter gets its tokens, now or later.
    pub(super) fn delivers(self) -> bool {
        match self {
            Self::Done | Self::UnderWay { ending: Ending::Delivered, .. } => true,
            Self::UnderWay { ending: Ending::Failed | Ending::Reversed, .. } | Self::Failed => false,
        }
    }
}

impl From<crate::reloadly::Ending> for Ending {
    /// The endings of a script are the same for both aggregators.
    fn from(ending: crate::reloadly::Ending) -> Self {
        match ending {
            crate::reloadly::Ending::Successful => Self::Delivered,
            crate::reloadly::Ending::Failed => Self::Failed,
            crate::reloadly::Ending::Refunded => Self::Reversed,
        }
    }
}

impl Remembered for Transaction {
    fn is_refusal(&self) -> bool {
        self.course == Course::Failed
    }
}
