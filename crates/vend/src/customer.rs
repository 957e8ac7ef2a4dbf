//! What a provider tells about a subscriber before any money moves.

use money::Money;

use crate::{Doubt, Refusal};

/// A subscriber that the provider knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Customer {
    /// The consumer's name, shown before confirm so that a typing error is noticed.
    pub name: Option<String>,
    /// Why this customer may not buy now, if so.
    pub barred: Option<Refusal>,
    /// The smallest amount it may buy.
    pub minimum: Option<Money>,
    /// The largest amount it may buy.
    pub maximum: Option<Money>,
}

/// Why a question that moves no money has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// The provider answered: no.
    Refused(Refusal),
    /// The provider could not be reached at all.
    Unreachable,
    /// The question was put, but no usable answer came.
    NoAnswer(Doubt),
}
