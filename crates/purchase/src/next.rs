//! What a step answers: the next life and its effects, or why there is none.

use crate::{FactKind, Life, StateName};

/// What a fact leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// The purchase becomes this, and these things must be done in the same transaction.
    Moved(Life, Vec<Effect>),
    /// It is already so: the fact was recorded before and its acknowledgement was lost.
    AlreadyThere,
}

/// What must be done together with a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Turn the hold into a debit and write the journal entry.
    CaptureHold,
    /// Give the hold back.
    ReleaseHold,
    /// Put the evidence before a person, with an alert; the purchase itself does not change.
    OpenIncident(Incident),
}

/// An assumption about a provider broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incident {
    /// A vend came to light after the purchase had failed and its hold was given back.
    LateVend,
    /// A second vend came to light after the purchase had been paid for its first.
    SecondVend,
}

impl Incident {
    /// The name in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LateVend => "LATE_VEND",
            Self::SecondVend => "SECOND_VEND",
        }
    }
}

/// The fact has no place in this state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fact:?} does not happen to a purchase in {state:?}: {why}")]
pub struct Illegal {
    /// Where the purchase stands.
    pub state: StateName,
    /// What was offered.
    pub fact: FactKind,
    /// Why it is refused.
    pub why: Why,
}

/// Why a fact is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// Final states are absorbing.
    #[error("it has ended")]
    Ended,
    /// The state has no use for the fact.
    #[error("nothing of that kind is under way")]
    NotHere,
    /// Somebody else has claimed it since.
    #[error("the fence is stale")]
    StaleFence,
    /// Somebody holds it.
    #[error("its lease is live")]
    Leased,
    /// Only a holder sends.
    #[error("no lease is held")]
    NotLeased,
    /// The connection is not declared to take a repeat safely.
    #[error("a repeat is not declared safe")]
    RepeatNotSafe,
    /// The window for sending has closed.
    #[error("the window has closed")]
    WindowClosed,
    /// The window for sending is still open.
    #[error("the window is still open")]
    WindowOpen,
    /// The plan has the next send later, or none.
    #[error("no send is due")]
    NotDue,
    /// A managed purchase has had all its requests.
    #[error("all requests are used up")]
    RequestsSpent,
}
