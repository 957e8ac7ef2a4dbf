//! What a step returns: the next lifecycle and its effects, or why there is none.

use crate::{EventKind, Lifecycle, StateName};

/// The result of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// The purchase becomes this, and these effects must be applied in the same transaction. Nothing else about it changes,
    /// except that its order has the reference of [`AttemptStarted`](crate::Event::AttemptStarted) from then on.
    Moved(Lifecycle, Vec<Effect>),
    /// The purchase is already in this state: the event was recorded before, and its acknowledgement was lost.
    AlreadyThere,
}

/// What must be done in the same transaction as a change of the purchase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Turn the hold into a debit and write the journal entry.
    CaptureHold,
    /// Release the hold.
    ReleaseHold,
    /// Show the evidence to an operator, with an alert. The purchase itself does not change, so the same vend gives this
    /// effect each time that it is reported. A store opens one incident for each transaction of the provider, and takes a
    /// report that it knows for [`AlreadyThere`](Next::AlreadyThere).
    OpenIncident(Incident),
}

/// An assumption about a provider was wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incident {
    /// A vend became known after the purchase had failed and its hold was released.
    LateVend,
    /// A second vend became known after the purchase had been paid for its first.
    SecondVend,
}

impl Incident {
    /// Every kind.
    pub const ALL: [Self; 2] = [Self::LateVend, Self::SecondVend];

    /// The kind of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str() == name)
    }

    /// The name in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LateVend => "LATE_VEND",
            Self::SecondVend => "SECOND_VEND",
        }
    }
}

/// The event is not legal in this state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{event:?} does not happen to a purchase in {state:?}: {why}")]
pub struct Illegal {
    /// The state of the purchase.
    pub state: StateName,
    /// The kind of the event.
    pub event: EventKind,
    /// Why it is refused.
    pub why: Why,
}

/// Why an event is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// The purchase has ended. Final states never change.
    #[error("it has ended")]
    Ended,
    /// The event does not apply in this state.
    #[error("nothing of that kind is under way")]
    NotHere,
    /// Another process has claimed it since.
    #[error("the fence is stale")]
    StaleFence,
    /// A process holds its lease.
    #[error("its lease is live")]
    Leased,
    /// The sender holds no lease. Only a holder sends.
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
    /// The retry plan has the next send later, or has no more.
    #[error("no send is due")]
    NotDue,
    /// A managed purchase has used all its requests.
    #[error("all requests are used up")]
    RequestsSpent,
}
