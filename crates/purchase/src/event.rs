//! What happened to a purchase. Time and evidence reach a purchase only through these events.

use chrono::{DateTime, Utc};
use vend::{ProviderReference, Refusal, Unclear, Vend, VendOutcome};

use crate::Fence;

/// An event and the time at which it is recorded, by the database's clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedEvent {
    /// The database's time.
    pub at: DateTime<Utc>,
    /// What happened.
    pub event: Event,
}

/// Everything that can happen to a purchase after its reserve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A validated success, from an answer or an enquiry. Evidence needs no fence.
    Vended {
        /// What the provider gave.
        vend: Box<Vend>,
    },
    /// A definite refusal.
    Refused {
        /// The fence under which this is recorded.
        fence: Fence,
        /// What the provider said.
        refusal: Refusal,
        /// Where the provider said so.
        source: RefusalSource,
    },
    /// The latest copy is recorded, but it is proven that it was not sent.
    NeverSent {
        /// The fence under which this is recorded.
        fence: Fence,
    },
    /// The sender has no proof either way.
    Lost {
        /// The fence under which this is recorded.
        fence: Fence,
        /// Why there is no proof, and what the provider said.
        why: Unclear,
    },
    /// A process takes the purchase over, under the next fence.
    Claimed,
    /// An enquiry found no record.
    NoRecord {
        /// The fence under which this is recorded.
        fence: Fence,
        /// The time of the claim, by the database's clock. The enquiry began no earlier.
        asked_at: DateTime<Utc>,
    },
    /// The holder learnt nothing and releases its lease.
    LeaseReleased {
        /// The fence under which this is recorded.
        fence: Fence,
        /// Why nothing was learnt, and what the provider said.
        why: Unclear,
    },
    /// Another copy of the same order is about to be sent.
    SentAgain {
        /// The fence under which this is recorded.
        fence: Fence,
    },
    /// A new attempt under a new reference is about to be sent.
    AttemptStarted {
        /// The fence under which this is recorded.
        fence: Fence,
        /// The provider reference of the new attempt.
        reference: ProviderReference,
    },
    /// Nothing more will be sent.
    WindowClosed {
        /// The fence under which this is recorded.
        fence: Fence,
    },
    /// An operator vouches for a vend, with token, units and provider transaction.
    OperatorVended {
        /// The fence under which this is recorded.
        fence: Fence,
        /// What the operator entered.
        vend: Box<Vend>,
    },
    /// An operator vouches that nothing was vended.
    OperatorNotVended {
        /// The fence under which this is recorded.
        fence: Fence,
    },
}

/// Where a provider reported a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefusalSource {
    /// In the answer to the order. It is about the copy that it answers.
    Answer,
    /// In the answer to an enquiry. It is about every copy of the order that the provider knows.
    Enquiry,
}

/// The kind of an event, without its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventKind {
    /// [`Event::Vended`].
    Vended,
    /// [`Event::Refused`].
    Refused,
    /// [`Event::NeverSent`].
    NeverSent,
    /// [`Event::Lost`].
    Lost,
    /// [`Event::Claimed`].
    Claimed,
    /// [`Event::NoRecord`].
    NoRecord,
    /// [`Event::LeaseReleased`]. Its name is older than the variant: `LET_GO`, as histories that are stored have it.
    LeaseReleased,
    /// [`Event::SentAgain`].
    SentAgain,
    /// [`Event::AttemptStarted`].
    AttemptStarted,
    /// [`Event::WindowClosed`].
    WindowClosed,
    /// [`Event::OperatorVended`].
    OperatorVended,
    /// [`Event::OperatorNotVended`].
    OperatorNotVended,
}

impl EventKind {
    /// Every kind.
    pub const ALL: [Self; 12] = [
        Self::Vended,
        Self::Refused,
        Self::NeverSent,
        Self::Lost,
        Self::Claimed,
        Self::NoRecord,
        Self::LeaseReleased,
        Self::SentAgain,
        Self::AttemptStarted,
        Self::WindowClosed,
        Self::OperatorVended,
        Self::OperatorNotVended,
    ];

    /// The kind of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// The name in the purchase's history.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Vended => "VENDED",
            Self::Refused => "REFUSED",
            Self::NeverSent => "NEVER_SENT",
            Self::Lost => "LOST",
            Self::Claimed => "CLAIMED",
            Self::NoRecord => "NO_RECORD",
            Self::LeaseReleased => "LET_GO",
            Self::SentAgain => "SENT_AGAIN",
            Self::AttemptStarted => "ATTEMPT_STARTED",
            Self::WindowClosed => "WINDOW_CLOSED",
            Self::OperatorVended => "OPERATOR_VENDED",
            Self::OperatorNotVended => "OPERATOR_NOT_VENDED",
        }
    }
}

impl Event {
    /// What a sender reports when its one request is over. A refusal with the reason `NeverSent` means that no byte
    /// was sent. It is not the provider's answer about any other copy.
    pub fn reported(outcome: VendOutcome, fence: Fence) -> Self {
        match outcome {
            VendOutcome::Vended(vend) => Self::Vended { vend },
            VendOutcome::Refused(refusal) if refusal.reason == vend::RefusalReason::NeverSent => {
                Self::NeverSent { fence }
            }
            VendOutcome::Refused(refusal) => Self::Refused { fence, refusal, source: RefusalSource::Answer },
            VendOutcome::Unknown(why) => Self::Lost { fence, why },
        }
    }

    /// The vend that this event reports, whether the provider or an operator vouches for it.
    pub const fn vend(&self) -> Option<&Vend> {
        match self {
            Self::Vended { vend } | Self::OperatorVended { vend, .. } => Some(vend),
            Self::Refused { .. }
            | Self::NeverSent { .. }
            | Self::Lost { .. }
            | Self::Claimed
            | Self::NoRecord { .. }
            | Self::LeaseReleased { .. }
            | Self::SentAgain { .. }
            | Self::AttemptStarted { .. }
            | Self::WindowClosed { .. }
            | Self::OperatorNotVended { .. } => None,
        }
    }

    /// The kind of this event.
    pub const fn kind(&self) -> EventKind {
        match self {
            Self::Vended { .. } => EventKind::Vended,
            Self::Refused { .. } => EventKind::Refused,
            Self::NeverSent { .. } => EventKind::NeverSent,
            Self::Lost { .. } => EventKind::Lost,
            Self::Claimed => EventKind::Claimed,
            Self::NoRecord { .. } => EventKind::NoRecord,
            Self::LeaseReleased { .. } => EventKind::LeaseReleased,
            Self::SentAgain { .. } => EventKind::SentAgain,
            Self::AttemptStarted { .. } => EventKind::AttemptStarted,
            Self::WindowClosed { .. } => EventKind::WindowClosed,
            Self::OperatorVended { .. } => EventKind::OperatorVended,
            Self::OperatorNotVended { .. } => EventKind::OperatorNotVended,
        }
    }
}
