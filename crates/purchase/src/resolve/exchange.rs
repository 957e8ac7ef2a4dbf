//! The inputs, the commands and the answers of a resolve.

use std::time::Duration;

use chrono::{DateTime, Utc};
use vend::{Enquiry, VendOutcome};

use crate::{Event, Fence, Lifecycle};

/// The side that asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asker {
    /// An integrator, by a retry.
    Integrator,
    /// The worker. On self-managed accounts it makes enquiries and sends nothing.
    Worker,
}

/// The result of a command. Times are by the database's clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResolveInput {
    /// The purchase is claimed.
    Claimed {
        /// The purchase under the new fence.
        lifecycle: Lifecycle,
        /// When it was claimed.
        at: DateTime<Utc>,
    },
    /// Another process holds it, or it has ended meanwhile.
    NotClaimed,
    /// The turn is taken: no other integrator took one within the last `enquiry_gap`.
    MayAsk,
    /// Another integrator took a turn within the last `enquiry_gap`, or the purchase has ended or has another fence.
    MayNotAsk,
    /// The enquiry is over.
    Enquired {
        /// The result of the enquiry.
        enquiry: Enquiry,
        /// The time of the claim before it. It began no earlier.
        asked_at: DateTime<Utc>,
    },
    /// The next send is recorded. The order may be sent if the gate is open.
    SendRecorded {
        /// The fence under which the order is sent.
        fence: Fence,
        /// Monotonic time since before the send was recorded.
        since_record: Duration,
    },
    /// The purchase does not accept the next send any more. The order must not be sent.
    SendRefused,
    /// It is unknown whether the next send is recorded. The order must not be sent.
    SendUnacknowledged,
    /// The one request to the provider is over.
    Answered(VendOutcome),
    /// The event is recorded, or the purchase did not accept it any more.
    Recorded {
        /// The purchase afterwards.
        lifecycle: Lifecycle,
        /// When the purchase was in this state.
        at: DateTime<Utc>,
    },
    /// It is unknown whether the event was committed.
    RecordUnacknowledged,
}

impl ResolveInput {
    /// The name of the variant.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Claimed { .. } => "Claimed",
            Self::NotClaimed => "NotClaimed",
            Self::MayAsk => "MayAsk",
            Self::MayNotAsk => "MayNotAsk",
            Self::Enquired { .. } => "Enquired",
            Self::SendRecorded { .. } => "SendRecorded",
            Self::SendRefused => "SendRefused",
            Self::SendUnacknowledged => "SendUnacknowledged",
            Self::Answered(_) => "Answered",
            Self::Recorded { .. } => "Recorded",
            Self::RecordUnacknowledged => "RecordUnacknowledged",
        }
    }
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResolveCommand {
    /// Take the purchase over, under the next fence.
    Claim,
    /// Take the next turn for an enquiry on behalf of an integrator, if the purchase still has this fence.
    TakeTurn(Fence),
    /// Ask the provider what became of the current attempt.
    Enquire,
    /// Record another copy of the same order before it is sent: [`Event::SentAgain`].
    RecordRepeat(Fence),
    /// Record an attempt under a fresh reference before its order is sent: [`Event::AttemptStarted`].
    RecordAttempt(Fence),
    /// Send the order of the current attempt, once, if its first byte leaves in time.
    Send {
        /// The gate, counted from before the send was recorded, as `since_record` is. The sender checks it at the
        /// last possible moment. If it is over, nothing leaves, and the outcome is a refusal with the reason
        /// [`NeverSent`](vend::RefusalReason::NeverSent).
        leave_within: Duration,
    },
    /// Record this event, also if the same record ran before.
    Record(Event),
    /// The resolve is over.
    Answer(ResolveAnswer),
}

/// How a resolve ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResolveAnswer {
    /// Successful or failed: the record says which.
    Final,
    /// Still open.
    Pending,
    /// Still open, and the provider could not be asked.
    Unreachable,
}
