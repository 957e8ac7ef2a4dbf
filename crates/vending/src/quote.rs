//! Validate: what a purchase would cost and yield. Nothing is stored and no money moves.

use chrono::{DateTime, Datelike, Utc};
use purchase::{Authority, Price, PurchaseId, PurchaseRequest, Reference};
use vend::{Breakdown, Units};

use crate::admission::Admitted;
use crate::{Rejection, Service, Vending};

/// What a purchase would cost and yield now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote {
    /// A number that no purchase will have.
    pub id: PurchaseId,
    /// The reference for that number.
    pub reference: Reference,
    /// The five amounts.
    pub price: Price,
    /// The consumer's name at the provider.
    pub subscriber_details: Option<String>,
    /// What the tokens would be worth.
    pub units: Option<Units>,
    /// How the provider would split `net`.
    pub breakdown: Option<Breakdown>,
    /// When the quote was made.
    pub at: DateTime<Utc>,
}

impl Vending {
    /// Prices the request, and asks the provider for the customer and for what the customer would get.
    ///
    /// # Errors
    /// The objections of the catalogue or of the provider to the sale. Only a confirm checks the caller's rights, the
    /// balance and open purchases for the subscriber.
    pub async fn quote(&self, authority: &Authority, request: &PurchaseRequest) -> Result<Quote, Rejection> {
        self.0.rehearse(authority, request, Rehearsal::Quote).await
    }

    /// Like [`Self::quote`], but the provider also runs the whole sale without money (specification, section 4.2,
    /// `hard_validate`). A quote is given if a dummy token could be made.
    ///
    /// # Errors
    /// As for a quote, and [`Rejection::Check`] if the dummy was not made as a token would be.
    pub async fn trial(&self, authority: &Authority, request: &PurchaseRequest) -> Result<Quote, Rejection> {
        self.0.rehearse(authority, request, Rehearsal::Trial).await
    }
}

/// What the provider is asked about a sale that is not made yet.
#[derive(Clone, Copy)]
enum Rehearsal {
    Quote,
    Trial,
}

impl Service {
    async fn rehearse(
        &self,
        authority: &Authority,
        request: &PurchaseRequest,
        rehearsal: Rehearsal,
    ) -> Result<Quote, Rejection> {
        let Admitted { provider, price, customer, call, sale, .. } =
            self.prepare_sale(authority.organisation, request).await?;
        let quotation = match rehearsal {
            Rehearsal::Quote => provider.quote(call, &sale).await,
            Rehearsal::Trial => provider.trial(call, &sale).await,
        };
        let quotation = quotation.map_err(Rejection::of_check(&request.provider_code))?;
        let at = self.clock.now();
        let (id, reference) = self.next_purchase(at).await?;
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

    /// A fresh purchase number and its reference. It is logged if the database gives none.
    pub(crate) async fn next_purchase(
        &self,
        at: DateTime<Utc>,
    ) -> Result<(PurchaseId, Reference), Rejection> {
        let id = self.numbers.purchase(&self.store).await.map_err(|error| {
            let cause: &dyn std::error::Error = &error;
            tracing::error!(cause, "there is no fresh purchase number");
            Rejection::from(error)
        })?;
        let local = at.with_timezone(&self.zone);
        Ok((id, Reference::new(id, local.year(), local.month())))
    }
}
