//! A vendor's own list of our orders, which is compared with our books.

use std::num::NonZeroU32;

use chrono::{DateTime, Utc};

use crate::Product;

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
    pub orders: Vec<ListedOrder>,
    /// The number of orders on all pages, as this page states it. By it a reader knows that no order is missing.
    pub orders_in_all: u64,
}

/// An order as the vendor lists it. What was sold is kept as the vendor wrote it, because the list is evidence: who compares it with
/// the books checks it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedOrder {
    /// Our reference. `None` if the order did not come from us under a reference.
    pub reference: Option<String>,
    /// The vendor's identifier.
    pub transaction: String,
    /// When the vendor received it.
    pub ordered_at: DateTime<Utc>,
    /// What became of it.
    pub state: ListedState,
    /// What was sold.
    pub product: Product,
    /// The meter or the phone number. One that the adapter can read has the form that a purchase has.
    pub subscriber: String,
    /// The amount of the sale, as a decimal number.
    pub amount: String,
    /// The ISO 4217 code of the amount's currency.
    pub currency: String,
}

/// What became of an order, as the vendor lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListedState {
    /// The customer has what was bought, and we owe the amount.
    Vended,
    /// The vendor does not know yet.
    StillOpen,
    /// The customer has nothing, and we owe nothing.
    NotVended,
    /// The vendor used a word that the adapter does not know.
    Unknown,
}
