//! The bodies of validate, confirm and retry (specification, section 4.1).

use purchase::PurchaseRequest;
use vend::Product;
use vending::{RetryQuestion, RetryScope};
use web::{ApiError, Fields, requests::Vocabulary};

use super::limits::{CHANNELS, PROVIDER_CODE_MAX};

/// The field with the subscriber identifier.
pub const SUBSCRIBER: &str = "subscriber_identifier";

const VOCABULARY: Vocabulary = Vocabulary { channels: &CHANNELS, subscriber: SUBSCRIBER };

/// The body of validate and confirm.
pub fn purchase_request(fields: &Fields) -> Result<PurchaseRequest, ApiError> {
    VOCABULARY.purchase_request(fields, |fields| {
        let product = fields.one_of("product_type", &Product::ALL, Product::as_str)?;
        Ok((product, fields.required_text("provider_code", PROVIDER_CODE_MAX)?))
    })
}

/// The body of retry.
pub fn retry_question(fields: &Fields) -> Result<RetryQuestion, ApiError> {
    VOCABULARY.retry_question(fields, RetryScope::AnyProduct)
}
