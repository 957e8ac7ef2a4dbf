//! A confirm that was refused before any purchase was made, as it is kept for whoever asks about it later.

use chrono::{DateTime, Utc};
use money::Money;
use vend::Product;

use crate::Authority;

/// What could be read of the request, and what its sender was told. Of personal data it holds the subscriber identifier
/// alone; tokens, names, comments and the beneficiary's phone number are never part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedConfirm {
    /// When it was refused.
    pub at: DateTime<Utc>,
    /// In whose name it was asked.
    pub authority: Authority,
    /// The meter, phone or account, at most 100 characters.
    pub subscriber: Option<String>,
    /// The integrator's own name for the purchase, at most 100 characters.
    pub external_reference: Option<String>,
    /// What was to be bought.
    pub product: Option<Product>,
    /// From whom, at most 100 characters.
    pub provider_code: Option<String>,
    /// For how much.
    pub amount: Option<Money>,
    /// The error code that was told.
    pub code: &'static str,
    /// The field that was to blame, at most 100 characters.
    pub param: Option<String>,
    /// The name of the request, at most 128 characters.
    pub request_id: String,
}
