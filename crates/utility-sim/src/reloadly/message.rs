//! The answers of the aggregator, as values.

use chrono::{DateTime, FixedOffset};
use money::{Currency, Money};

use super::{Refusal, access::Grant, operator::Operator, topup::Statement};

/// An answer, and the data that an error repeats from its request.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(super) path: String,
    pub(super) at: DateTime<FixedOffset>,
    pub(crate) reply: Reply,
}

/// The answer to each operation.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    Access(Grant),
    Operators { operators: &'static [Operator], currency: Currency },
    Operator { operator: &'static Operator, currency: Currency },
    Balance(Money),
    Topup(Box<Statement>),
    Status(Box<Statement>),
    Report(Report),
    Refusal(Refusal),
}

/// A page of top-ups.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    pub(super) content: Vec<Statement>,
    /// The number of the page, from 1.
    pub(super) page: usize,
    pub(super) size: usize,
    /// The number of top-ups on all pages.
    pub(super) total: usize,
}
