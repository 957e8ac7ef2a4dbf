//! Validate: what a purchase would cost and yield. Nothing is stored and nothing moves.

use chrono::{DateTime, Datelike, Utc};
use purchase::{Authority, Price, PurchaseId, PurchaseRequest, Reference};
use vend::{Breakdown, Sale, Units};

use crate::{Desk, Rejection, Vending};

/// What a purchase would cost and yield now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote {
    /// A number that no purchase will have.
    pub id: PurchaseId,
    /// The name that goes with it.
    pub reference: Reference,
    /// The five amounts.
    pub price: Price,
    /// The consumer's name as the provider has it.
    pub subscriber_details: Option<String>,
    /// What the tokens would be worth.
    pub units: Option<Units>,
    /// How the provider would split `net`.
    pub breakdown: Option<Breakdown>,
    /// When it was made.
    pub at: DateTime<Utc>,
}

impl Vending {
    /// Prices the request, and asks the provider who the customer is and what it would get.
    pub async fn quote(&self, authority: &Authority, request: &PurchaseRequest) -> Result<Quote, Rejection> {
        let desk = &self.0;
        let price = desk.price(authority.organisation, request).await?;
        let provider = desk.provider(&request.provider_code).ok_or(Rejection::Internal)?;
        let customer = desk.admit_customer(provider.as_ref(), request, price.net).await?;
        let call = desk.call_id(&request.provider_code).await.ok_or(Rejection::Internal)?;
        let sale =
            Sale { product: request.product, subscriber: request.subscriber.clone(), amount: price.net };
        let quotation = provider.quote(call, &sale).await.map_err(Rejection::Check)?;
        let at = desk.clock.now();
        let (id, reference) = desk.next_purchase(at).await.ok_or(Rejection::Internal)?;
        Ok(Quote {
            id,
            reference,
            price,
            subscriber_details: quotation.subscriber_details.or(customer.name),
            units: quotation.units,
            breakdown: quotation.breakdown,
            at,
        })
    }
}

impl Desk {
    /// A fresh purchase number and its reference; none when the database gives none, which is logged.
    pub(crate) async fn next_purchase(&self, at: DateTime<Utc>) -> Option<(PurchaseId, Reference)> {
        let id = self.calls.purchase(&self.store).await;
        let id = id.inspect_err(|error| {
            let cause: &dyn std::error::Error = error;
            tracing::error!(cause, "there is no fresh purchase number");
        });
        let local = at.with_timezone(&self.zone);
        id.ok().map(|id| (id, Reference::new(id, local.year(), local.month())))
    }
}
