//! A confirm that was refused before a purchase was made. It is stored for later questions about it.

use chrono::{DateTime, Utc};
use money::Money;
use vend::Product;

use crate::Authority;

/// The parts of the request that could be read, and the answer to its sender. The subscriber identifier is the only
/// personal data in it. Tokens, names, comments and the beneficiary's phone number are never part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedConfirm {
    /// When it was refused.
    pub at: DateTime<Utc>,
    /// The identity of the caller.
    pub authority: Authority,
    /// The meter, phone or account, at most 100 characters.
    pub subscriber: Option<String>,
    /// The integrator's own name for the purchase, at most 100 characters.
    pub external_reference: Option<String>,
    /// The product.
    pub product: Option<Product>,
    /// The provider's code, at most 100 characters.
    pub provider_code: Option<String>,
    /// The amount.
    pub amount: Option<Money>,
    /// The error code of the answer. `provider_paused` stands for a `provider_unavailable` because of a pause.
    pub code: &'static str,
    /// The field that caused the error, at most 100 characters.
    pub param: Option<String>,
    /// The id of the request, at most 128 characters.
    pub request_id: String,
}
