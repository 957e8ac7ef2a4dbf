//! A top-up: the order and its outcome.

use chrono::{DateTime, FixedOffset};
use clock::Monotonic;
use money::Money;
use serde::{Deserialize, Serialize};

use super::{Refusal, VendRequest};
use crate::memory::Remembered;

/// A top-up as the aggregator stores it.
#[derive(Clone, Debug)]
pub(crate) struct Topup {
    /// The aggregator's number for it.
    pub(super) number: i64,
    pub(super) order: VendRequest,
    pub(super) at: DateTime<FixedOffset>,
    pub(super) made: Monotonic,
    pub(super) course: Course,
    /// The account's balance before and after it.
    pub(super) balances: [Money; 2],
}

/// The course of a top-up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Course {
    /// It was finished when it was answered.
    Done,
    /// It is in progress until that time.
    UnderWay { until: Monotonic, ending: Ending },
    /// It was refused.
    Refused(Refusal),
}

/// The final state of a top-up that was in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ending {
    Successful,
    Failed,
    Refunded,
}

/// The state of a top-up at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Processing,
    Ended(Ending),
}

/// A top-up with its state at some time.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub(super) topup: Topup,
    pub(super) state: State,
}

impl Topup {
    pub(super) fn statement(&self, now: Monotonic) -> Statement {
        let state = match &self.course {
            Course::Done => State::Ended(Ending::Successful),
            Course::UnderWay { until, .. } if now < *until => State::Processing,
            Course::UnderWay { ending, .. } => State::Ended(*ending),
            Course::Refused(_) => State::Ended(Ending::Failed),
        };
        Statement { topup: self.clone(), state }
    }
}

impl Course {
    /// Whether the telephone gets its airtime, now or later.
    pub(super) fn delivers(&self) -> bool {
        match self {
            Self::Done | Self::UnderWay { ending: Ending::Successful, .. } => true,
            Self::UnderWay { ending: Ending::Failed | Ending::Refunded, .. } | Self::Refused(_) => false,
        }
    }
}

impl State {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Processing => "PROCESSING",
            Self::Ended(Ending::Successful) => "SUCCESSFUL",
            Self::Ended(Ending::Failed) => "FAILED",
            Self::Ended(Ending::Refunded) => "REFUNDED",
        }
    }
}

impl Statement {
    /// Why the top-up failed, if that is final.
    pub(super) fn failure(&self) -> Option<Refusal> {
        match (&self.topup.course, self.state) {
            (Course::Refused(refusal), _) => Some(refusal.clone()),
            (Course::UnderWay { .. }, State::Ended(Ending::Failed | Ending::Refunded)) => {
                Some(Refusal::failed())
            }
            (Course::Done | Course::UnderWay { .. }, State::Processing | State::Ended(_)) => None,
        }
    }
}

impl Remembered for Topup {
    fn is_refusal(&self) -> bool {
        matches!(self.course, Course::Refused(_))
    }
}
