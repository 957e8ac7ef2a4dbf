//! What a surface stores of a confirm that it refuses: the readable part of the request, and the code that is answered.
//! It is read again from the body, on this path only, so that a successful confirm has no extra cost.

use actix_web::HttpRequest;

use money::Money;
use purchase::{Authority, RefusedConfirm};
use vend::Product;
use vending::Vending;

use crate::{ApiError, Fields, RequestContext, SharedState, requests::lengths::SHORT_TEXT_MAX};

/// A confirm that may be refused before a purchase is made.
#[derive(Debug)]
pub struct Confirming<'a> {
    /// The request.
    pub request: &'a HttpRequest,
    /// Where the refusal is stored.
    pub vending: &'a Vending,
    /// The ids under which the caller buys.
    pub authority: Authority,
    /// Its body.
    pub fields: &'a Fields,
    /// The field with the subscriber identifier.
    pub subscriber: &'static str,
    /// The product, if the body does not name it.
    pub product: Option<Product>,
}

impl Confirming<'_> {
    /// Queues a confirm that made no purchase for storing, with its error, so that an operator can find it. Returns the
    /// error at once.
    pub fn queue_refused(&self, error: ApiError) -> ApiError {
        self.vending.keep_refused(RefusedConfirm {
            at: SharedState::of(self.request).clock().now(),
            authority: self.authority,
            subscriber: self.text(self.subscriber),
            external_reference: self.text("external_reference"),
            product: self.product.or_else(|| self.named_product()),
            provider_code: self.text("provider_code"),
            amount: self.amount(),
            code: error.stored_code(),
            param: error.param().map(|param| param.chars().take(SHORT_TEXT_MAX).collect()),
            request_id: RequestContext::of(self.request).request_id().as_str().to_owned(),
        });
        error
    }

    fn text(&self, name: &'static str) -> Option<String> {
        self.fields.optional_text(name, SHORT_TEXT_MAX).ok().flatten()
    }

    fn named_product(&self) -> Option<Product> {
        self.fields.optional_one_of("product_type", &Product::ALL, Product::as_str).ok().flatten()
    }

    fn amount(&self) -> Option<Money> {
        let currency = self.fields.required_currency("currency").ok()?;
        self.fields.required_amount("amount", currency).ok()
    }
}
