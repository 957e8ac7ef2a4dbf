//! Purchases as they are read back: the envelope of confirm, the fields that the integrator sent with it, and why it
//! failed if it did.

use serde::Serialize;
use utoipa::ToSchema;

use identity::Caller;
use purchase::{PurchaseStatus, PurchaseWithBuyer, Record};
use web::{Language, SharedState, why_failed};

use super::{Actor, Purchase};
use crate::schema::values::{FailureCode, FailureType};

/// A purchase in its current state.
#[derive(Debug, Serialize, ToSchema)]
pub struct ListedPurchase<'a> {
    #[serde(flatten)]
    purchase: Purchase<'a>,
    /// As in the confirm.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    external_reference: Option<&'a str>,
    /// As in the confirm.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    comment: Option<&'a str>,
    /// Why nothing was bought, if `status` is `FAILED`. Retry answers the same about this purchase.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    failure: Option<Failure>,
}

/// One page of purchases, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct PurchasePage<'a> {
    data: Vec<ListedPurchase<'a>>,
    /// What to send as `cursor` for the next page; null on the last one.
    #[schema(required)]
    next_cursor: Option<String>,
}

/// The last purchases of a subscriber, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct SubscriberPurchases<'a> {
    data: Vec<ListedPurchase<'a>>,
}

/// The fields of an error, inside another answer.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PurchaseFailure)]
struct Failure {
    #[schema(value_type = FailureType)]
    r#type: &'static str,
    #[schema(value_type = FailureCode)]
    code: &'static str,
    message: String,
    #[schema(required)]
    param: Option<String>,
    /// Whether a new purchase of the same may succeed.
    buy_again: bool,
}

impl<'a> ListedPurchase<'a> {
    /// The purchase as any user of its organisation reads it, whichever user bought.
    pub fn read(
        with_buyer: &'a PurchaseWithBuyer,
        caller: &'a Caller,
        shared: &SharedState,
        language: Language,
    ) -> Self {
        let record = &with_buyer.record;
        Self {
            purchase: Purchase::of(record, Some(Actor::buyer(&with_buyer.buyer)), caller, shared),
            external_reference: record.external_reference.as_deref(),
            comment: record.comment.as_deref(),
            failure: Failure::of(record, shared, language),
        }
    }
}

impl<'a> PurchasePage<'a> {
    /// A page with these purchases. `next_cursor` leads to more.
    pub const fn new(data: Vec<ListedPurchase<'a>>, next_cursor: Option<String>) -> Self {
        Self { data, next_cursor }
    }
}

impl<'a> SubscriberPurchases<'a> {
    /// These purchases.
    pub const fn new(data: Vec<ListedPurchase<'a>>) -> Self {
        Self { data }
    }
}

impl Failure {
    fn of(record: &Record, shared: &SharedState, language: Language) -> Option<Self> {
        if PurchaseStatus::of(record.lifecycle.state.name()) != PurchaseStatus::Failed {
            return None;
        }
        let error = why_failed(record);
        Some(Self {
            r#type: error.code().error_type().as_str(),
            code: error.code().as_str(),
            message: error.message(shared.messages(), language),
            param: error.param().map(ToOwned::to_owned),
            buy_again: error.buy_again().unwrap_or(false),
        })
    }
}
