//! What a surface hands over to be kept of a confirm that it refuses: what can be read of the request, and the code that
//! is told. It is read anew from the body, on this path alone, so that a confirm that succeeds pays nothing for it.

use actix_web::HttpRequest;

use money::Money;
use purchase::{Authority, RefusedConfirm};
use vend::Product;
use vending::Vending;

use crate::{ApiError, Fields, Front, Visit, requests::lengths::SHORT_TEXT_MAX};

/// A confirm that may come to be refused before a purchase is made.
#[derive(Debug)]
pub struct Confirming<'a> {
    /// The request.
    pub request: &'a HttpRequest,
    /// Where it is kept.
    pub vending: &'a Vending,
    /// In whose name it is asked.
    pub authority: Authority,
    /// Its body.
    pub fields: &'a Fields,
    /// The field with the subscriber identifier.
    pub subscriber: &'static str,
    /// The product, where the body does not say.
    pub product: Option<Product>,
}

impl Confirming<'_> {
    /// No purchase was made, and this is told: it is kept for an operator who is asked about it.
    pub fn refused(&self, error: ApiError) -> ApiError {
        self.vending.keep_refused(RefusedConfirm {
            at: Front::of(self.request).clock().now(),
            authority: self.authority,
            subscriber: self.text(self.subscriber),
            external_reference: self.text("external_reference"),
            product: self.product.or_else(|| self.named_product()),
            provider_code: self.text("provider_code"),
            amount: self.amount(),
            code: error.code().as_str(),
            param: error.param().map(|param| param.chars().take(SHORT_TEXT_MAX).collect()),
            request_id: Visit::of(self.request).request_id().as_str().to_owned(),
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
