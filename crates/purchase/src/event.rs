//! What happened to a purchase. The only way in which time and evidence reach it.

use chrono::{DateTime, Utc};
use vend::{ProviderReference, Refusal, Unclear, Vend, VendOutcome};

use crate::Fence;

/// A fact and when it is put on record, by the database's clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The database's time.
    pub at: DateTime<Utc>,
    /// What happened.
    pub fact: Fact,
}

/// Everything that can happen to a purchase after its reserve. A fence says in whose name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A validated success, from an answer or an enquiry. Evidence needs no fence.
    Vended {
        /// What the provider gave.
        vend: Box<Vend>,
    },
    /// A definite refusal.
    Refused {
        /// In whose name.
        fence: Fence,
        /// What the provider said.
        refusal: Refusal,
        /// When it said so.
        told: Told,
    },
    /// The latest copy, though on record, is proven not to have left us.
    NeverSent {
        /// In whose name.
        fence: Fence,
    },
    /// The sender has no proof either way.
    Lost {
        /// In whose name.
        fence: Fence,
        /// Why not, and what the provider said.
        why: Unclear,
    },
    /// Somebody takes it over, under the next fence.
    Claimed,
    /// An enquiry found no record.
    NoRecord {
        /// In whose name.
        fence: Fence,
        /// When the enquiry began, by the database's clock.
        asked_at: DateTime<Utc>,
    },
    /// The holder learnt nothing and gives it up.
    LetGo {
        /// In whose name.
        fence: Fence,
        /// Why nothing was learnt, and what the provider said.
        why: Unclear,
    },
    /// Another copy of the same order is about to leave.
    SentAgain {
        /// In whose name.
        fence: Fence,
    },
    /// A new attempt under a new reference is about to leave.
    AttemptStarted {
        /// In whose name.
        fence: Fence,
        /// The new attempt's name.
        reference: ProviderReference,
    },
    /// Nothing more will be sent.
    WindowClosed {
        /// In whose name.
        fence: Fence,
    },
    /// An operator vouches for a vend, with token, units and provider transaction.
    OperatorVended {
        /// In whose name.
        fence: Fence,
        /// What the operator entered.
        vend: Box<Vend>,
    },
    /// An operator vouches that nothing was vended.
    OperatorNotVended {
        /// In whose name.
        fence: Fence,
    },
}

/// When a provider told of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Told {
    /// In the answer to the order: about the copy that it answers.
    InAnswer,
    /// When asked what became of the order: about all that it knows of it.
    WhenAsked,
}

/// A fact without what it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FactKind {
    /// [`Fact::Vended`].
    Vended,
    /// [`Fact::Refused`].
    Refused,
    /// [`Fact::NeverSent`].
    NeverSent,
    /// [`Fact::Lost`].
    Lost,
    /// [`Fact::Claimed`].
    Claimed,
    /// [`Fact::NoRecord`].
    NoRecord,
    /// [`Fact::LetGo`].
    LetGo,
    /// [`Fact::SentAgain`].
    SentAgain,
    /// [`Fact::AttemptStarted`].
    AttemptStarted,
    /// [`Fact::WindowClosed`].
    WindowClosed,
    /// [`Fact::OperatorVended`].
    OperatorVended,
    /// [`Fact::OperatorNotVended`].
    OperatorNotVended,
}

impl FactKind {
    /// Every kind.
    pub const ALL: [Self; 12] = [
        Self::Vended,
        Self::Refused,
        Self::NeverSent,
        Self::Lost,
        Self::Claimed,
        Self::NoRecord,
        Self::LetGo,
        Self::SentAgain,
        Self::AttemptStarted,
        Self::WindowClosed,
        Self::OperatorVended,
        Self::OperatorNotVended,
    ];

    /// The name in the purchase's history.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Vended => "VENDED",
            Self::Refused => "REFUSED",
            Self::NeverSent => "NEVER_SENT",
            Self::Lost => "LOST",
            Self::Claimed => "CLAIMED",
            Self::NoRecord => "NO_RECORD",
            Self::LetGo => "LET_GO",
            Self::SentAgain => "SENT_AGAIN",
            Self::AttemptStarted => "ATTEMPT_STARTED",
            Self::WindowClosed => "WINDOW_CLOSED",
            Self::OperatorVended => "OPERATOR_VENDED",
            Self::OperatorNotVended => "OPERATOR_NOT_VENDED",
        }
    }
}

impl Fact {
    /// What a sender reports when its one request is over. A refusal because no byte left is not the
    /// provider's word about any other copy.
    pub fn reported(outcome: VendOutcome, fence: Fence) -> Self {
        match outcome {
            VendOutcome::Vended(vend) => Self::Vended { vend },
            VendOutcome::Refused(refusal) if refusal.reason == vend::RefusalReason::NeverSent => {
                Self::NeverSent { fence }
            }
            VendOutcome::Refused(refusal) => Self::Refused { fence, refusal, told: Told::InAnswer },
            VendOutcome::Unknown(why) => Self::Lost { fence, why },
        }
    }

    /// The vend that it tells of, whoever vouches for that.
    pub const fn vend(&self) -> Option<&Vend> {
        match self {
            Self::Vended { vend } | Self::OperatorVended { vend, .. } => Some(vend),
            Self::Refused { .. }
            | Self::NeverSent { .. }
            | Self::Lost { .. }
            | Self::Claimed
            | Self::NoRecord { .. }
            | Self::LetGo { .. }
            | Self::SentAgain { .. }
            | Self::AttemptStarted { .. }
            | Self::WindowClosed { .. }
            | Self::OperatorNotVended { .. } => None,
        }
    }

    /// The fact without what it carries.
    pub const fn kind(&self) -> FactKind {
        match self {
            Self::Vended { .. } => FactKind::Vended,
            Self::Refused { .. } => FactKind::Refused,
            Self::NeverSent { .. } => FactKind::NeverSent,
            Self::Lost { .. } => FactKind::Lost,
            Self::Claimed => FactKind::Claimed,
            Self::NoRecord { .. } => FactKind::NoRecord,
            Self::LetGo { .. } => FactKind::LetGo,
            Self::SentAgain { .. } => FactKind::SentAgain,
            Self::AttemptStarted { .. } => FactKind::AttemptStarted,
            Self::WindowClosed { .. } => FactKind::WindowClosed,
            Self::OperatorVended { .. } => FactKind::OperatorVended,
            Self::OperatorNotVended { .. } => FactKind::OperatorNotVended,
        }
    }
}
