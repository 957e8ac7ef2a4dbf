//! What one span says: its name and its attributes are of closed lists, so that no personal data can be in it.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::ids::{SpanId, TraceId};

/// A finished span.
#[derive(Debug)]
pub(crate) struct Span {
    pub(crate) trace: TraceId,
    pub(crate) id: SpanId,
    /// `None` for the root.
    pub(crate) parent: Option<SpanId>,
    pub(crate) name: Name,
    pub(crate) began_at: DateTime<Utc>,
    pub(crate) took: Duration,
    pub(crate) purchase: i64,
    pub(crate) end: SpanEnd,
}

/// What a span was about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Name {
    /// The root: from the arrival of the confirm until its money was held.
    Purchase,
    /// One request of an integrator, until its answer.
    Request,
    /// The provider's check of the customer, or the memory of a recent one.
    CustomerCheck,
    /// The reserve, with all its tries.
    Reserve,
    /// Within the reserve: until its lane had the wallet and all it needs to decide.
    LaneWait,
    /// Within the reserve: the decision, the writes and the commit.
    LaneCommit,
    /// One order to the provider, with its answer.
    Send,
    /// One question to the provider about an order.
    Enquiry,
    /// An event is written, with its effects.
    Record,
    /// A process takes the purchase over.
    Claim,
    /// What a worker did about a purchase until it gave it back.
    Look,
}

/// A fact about a span. There is none for a name, a number of a meter or a phone, a token or a text that a person wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attribute {
    /// The pattern of the route, without what the caller wrote.
    Route(String),
    /// The HTTP status of the answer.
    Status(u16),
    /// The provider's code in the catalogue.
    Provider(String),
    /// The product.
    Product(&'static str),
    /// How it ended, in a word of the programs.
    Outcome(&'static str),
    /// Why, in a word of the programs.
    Reason(&'static str),
    /// The event that was written.
    Event(&'static str),
    /// Which order of the purchase: `first`, `repeat` or `attempt`.
    Order(&'static str),
    /// The fence under which the process works. All spans of one look have the same one, or higher ones.
    Fence(i64),
}

/// What is reported of a span at its end.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct SpanEnd {
    /// The facts.
    pub attributes: Vec<Attribute>,
    /// Whether it failed, or ended in doubt.
    pub is_error: bool,
}

impl Name {
    /// Every name.
    pub const ALL: [Self; 11] = [
        Self::Purchase,
        Self::Request,
        Self::CustomerCheck,
        Self::Reserve,
        Self::LaneWait,
        Self::LaneCommit,
        Self::Send,
        Self::Enquiry,
        Self::Record,
        Self::Claim,
        Self::Look,
    ];

    /// The name that a receiver shows.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Purchase => "purchase",
            Self::Request => "request",
            Self::CustomerCheck => "customer check",
            Self::Reserve => "reserve",
            Self::LaneWait => "lane: wait",
            Self::LaneCommit => "lane: commit",
            Self::Send => "provider send",
            Self::Enquiry => "provider enquiry",
            Self::Record => "record",
            Self::Claim => "claim",
            Self::Look => "look",
        }
    }
}

impl SpanEnd {
    /// A success with these facts.
    pub fn of(attributes: impl Into<Vec<Attribute>>) -> Self {
        Self { attributes: attributes.into(), is_error: false }
    }

    /// The same, marked as failed if that is so.
    #[must_use]
    pub fn failed_if(self, is_error: bool) -> Self {
        Self { is_error, ..self }
    }
}
