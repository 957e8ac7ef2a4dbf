//! Purchases as they are read back: the envelope of confirm, what the integrator sent with it, and why it failed if it
//! did.

use serde::Serialize;
use utoipa::ToSchema;

use identity::Caller;
use purchase::{Filed, PurchaseStatus, Record};
use web::{Front, Language, why_failed};

use super::{Actor, Purchase};

/// A purchase as it stands.
#[derive(Debug, Serialize, ToSchema)]
pub struct FiledPurchase {
    #[serde(flatten)]
    purchase: Purchase,
    /// As in the confirm.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    external_reference: Option<String>,
    /// As in the confirm.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    comment: Option<String>,
    /// Why nothing was bought, where `status` is `FAILED`: what retry answers about the same purchase.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, inline)]
    failure: Option<Failure>,
}

/// One page of purchases, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct PurchasePage {
    data: Vec<FiledPurchase>,
    /// What to send as `cursor` for the next page; null on the last one.
    #[schema(required)]
    next_cursor: Option<String>,
}

/// An error without an answer of its own.
#[derive(Debug, Serialize, ToSchema)]
struct Failure {
    r#type: &'static str,
    code: &'static str,
    message: String,
    #[schema(required)]
    param: Option<String>,
    /// Whether a new purchase of the same may succeed.
    buy_again: bool,
}

impl FiledPurchase {
    /// As its organisation's users read it, whoever of them bought.
    pub fn read(filed: &Filed, caller: &Caller, front: &Front, language: Language) -> Self {
        let record = &filed.record;
        Self {
            purchase: Purchase::of(record, Some(Actor::buyer(&filed.buyer)), caller, front),
            external_reference: record.external_reference.clone(),
            comment: record.comment.clone(),
            failure: Failure::of(record, front, language),
        }
    }
}

impl PurchasePage {
    /// These, and what leads to more.
    pub const fn new(data: Vec<FiledPurchase>, next_cursor: Option<String>) -> Self {
        Self { data, next_cursor }
    }
}

impl Failure {
    fn of(record: &Record, front: &Front, language: Language) -> Option<Self> {
        if PurchaseStatus::of(record.life.state.name()) != PurchaseStatus::Failed {
            return None;
        }
        let error = why_failed(record);
        Some(Self {
            r#type: error.code().error_type().as_str(),
            code: error.code().as_str(),
            message: error.message(front.messages(), language),
            param: error.param().map(ToOwned::to_owned),
            buy_again: error.buy_again().unwrap_or(false),
        })
    }
}
