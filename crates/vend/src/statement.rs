//! A vendor's own list of our orders, which is compared with our books.

use std::num::NonZeroU32;

use chrono::{DateTime, Utc};
use money::Money;

use crate::{Product, SubscriberIdentifier, Unanswered};

/// Which part of the vendor's list is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementRequest {
    /// The first moment of the period, by the vendor's clock.
    pub from: DateTime<Utc>,
    /// The end of the period, which does not belong to it.
    pub until: DateTime<Utc>,
    /// The page, counted from 1. The size of a page is the adapter's choice.
    pub page: NonZeroU32,
}

/// One page of the vendor's list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementPage {
    /// Empty after the last page. Some may lie outside the period, at its edges.
    pub orders: Vec<Result<ListedOrder, UnreadableOrder>>,
    /// The number of orders on all pages, as this page states it. By it a reader knows that no order is missing.
    pub orders_in_all: u64,
}

/// An order as the vendor lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedOrder {
    /// The vendor's identifier.
    pub transaction: String,
    /// When the vendor received it.
    pub ordered_at: DateTime<Utc>,
    /// What became of it.
    pub state: ListedState,
}

/// What became of an order, as the vendor lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListedState {
    /// The customer has what was bought, and we owe the amount.
    Vended(ListedSale),
    /// The vendor does not know yet.
    StillOpen,
    /// The customer has nothing, and we owe nothing.
    NotVended,
}

/// What was vended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedSale {
    /// Our reference. `None` if the order did not come from us under a reference.
    pub reference: Option<String>,
    /// What was sold.
    pub product: Product,
    /// The meter or the phone number. One of the provider's own country has the form that a purchase has.
    pub subscriber: SubscriberIdentifier,
    /// The amount of the sale.
    pub amount: Money,
}

/// An order of which the adapter cannot read what a statement needs. It must not be left out: it may have been vended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableOrder {
    /// The vendor's identifier. `None` if that cannot be read.
    pub transaction: Option<String>,
    /// The vendor's name of the field that cannot be read.
    pub field: &'static str,
}

/// Why a vendor's list was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoStatement {
    /// The protocol has no list of our orders.
    NotInProtocol,
    /// The settings of the connection lack this one, which only the list needs.
    SettingMissing(&'static str),
    /// The vendor did not answer, or refused.
    Unanswered(Unanswered),
}

impl From<Unanswered> for NoStatement {
    fn from(unanswered: Unanswered) -> Self {
        Self::Unanswered(unanswered)
    }
}
