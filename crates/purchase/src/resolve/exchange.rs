//! What a resolve is told, and what it says.

use std::time::Duration;

use chrono::{DateTime, Utc};
use vend::{Enquiry, VendOutcome};

use crate::{Fact, Fence, Life};

/// Who wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asker {
    /// An integrator, through the retry endpoint.
    Integrator,
    /// The worker. On self-managed accounts it asks and sends nothing.
    Worker,
}

/// What happened. Instants are the database's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResolveEvent {
    /// The purchase is claimed; this is how it stands now.
    Claimed {
        /// Under the new fence.
        life: Life,
        /// When.
        at: DateTime<Utc>,
    },
    /// Somebody else holds it, or it has ended meanwhile.
    NotClaimed,
    /// The turn is taken: no other integrator took one a moment ago.
    MayAsk,
    /// Another integrator took a turn a moment ago, or the purchase has moved on.
    MayNotAsk,
    /// The enquiry is over.
    Enquired {
        /// What it brought.
        enquiry: Enquiry,
        /// When it began.
        asked_at: DateTime<Utc>,
    },
    /// The next send is on record; it may leave if the gate is open.
    SendRecorded {
        /// The fence under which it leaves.
        fence: Fence,
        /// Monotonic time since before it was put on record.
        since_record: Duration,
    },
    /// The next send has no place any more; it must not leave.
    SendRefused,
    /// Nobody knows whether the next send is on record; it must not leave.
    SendUnacknowledged,
    /// The one request is over.
    Answered(VendOutcome),
    /// The fact is on record, or had no place there any more; this is how the purchase stands.
    Recorded {
        /// Afterwards.
        life: Life,
        /// When.
        at: DateTime<Utc>,
    },
    /// Nobody knows whether the fact was committed.
    RecordUnacknowledged,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResolveCommand {
    /// Take the purchase over, under the next fence.
    Claim,
    /// Take the next turn to have an enquiry made for an integrator, if the purchase still stands under this fence.
    TakeTurn(Fence),
    /// Ask the provider what became of the current attempt.
    Enquire,
    /// Put another copy of the same order on record before it leaves: [`Fact::SentAgain`].
    RecordRepeat(Fence),
    /// Put an attempt under a fresh reference on record before it leaves: [`Fact::AttemptStarted`].
    RecordAttempt(Fence),
    /// Send the order of the current attempt, once.
    Send,
    /// Put this on record; again, if it ran before.
    Record(Fact),
    /// It is over.
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
