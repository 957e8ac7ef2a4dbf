//! What a provider reports about a subscriber before any money moves.

use money::Money;

use crate::{Doubt, Refusal};

/// A subscriber that the provider knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Customer {
    /// The consumer's name. It is shown before confirm so that the buyer notices a typing error.
    pub name: Option<String>,
    /// Why this customer may not buy now. `None` if the customer may buy.
    pub barred: Option<Refusal>,
    /// The smallest amount that this customer may buy.
    pub minimum: Option<Money>,
    /// The largest amount that this customer may buy.
    pub maximum: Option<Money>,
}

/// Why a question that moves no money has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// The provider refused.
    Refused(Refusal),
    /// The provider could not be reached at all.
    Unreachable,
    /// The question was sent, but no usable answer came.
    NoAnswer(Doubt),
}
