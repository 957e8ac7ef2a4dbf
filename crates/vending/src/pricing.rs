//! Everything about a request that can be decided with only the catalogue.

use catalogue::{Catalogue, CatalogueAccount};
use purchase::{OrganisationId, Price, PurchaseRequest};

use crate::{PauseEnd, Rejection, Service};

impl Service {
    /// Checks that the organisation can buy this, and returns the price.
    pub(crate) async fn price(
        &self,
        organisation: OrganisationId,
        request: &PurchaseRequest,
    ) -> Result<Price, Rejection> {
        let catalogue = self.catalogue(organisation).await?;
        let account = debitable(&catalogue, request)?;
        let provider_code = request.provider_code.as_str();
        if catalogue.had_offer(request.product, provider_code) {
            return Err(Rejection::OfferRemoved { provider_code: provider_code.to_owned() });
        }
        let product = catalogue.products.iter().find(|product| product.product == request.product);
        let product = product.ok_or(Rejection::UnknownProduct)?;
        let offer = product.offers.iter().find(|offer| offer.provider_code == provider_code);
        let offer = offer.ok_or(Rejection::UnknownProvider)?;
        if account.currency != request.amount.currency() {
            return Err(Rejection::OtherCurrency { account: account.currency });
        }
        product.format.check(&request.subscriber).map_err(Rejection::SubscriberFormat)?;
        if !catalogue.allowed.admits(&request.subscriber) {
            return Err(Rejection::SubscriberNotAllowed);
        }
        let price = Price::of(request.amount, request.charges_on_top, &offer.terms);
        let price = price.map_err(Rejection::Price)?;
        let now = self.local_time();
        if let Some(pause) = catalogue.pause(request.product, provider_code, now.to_utc()) {
            let until = pause.until.map(|until| PauseEnd::seen_at(now, until));
            return Err(Rejection::Paused { provider_code: provider_code.to_owned(), until });
        }
        Ok(price)
    }
}

fn debitable(catalogue: &Catalogue, request: &PurchaseRequest) -> Result<CatalogueAccount, Rejection> {
    let account = catalogue.accounts.iter().find(|account| account.id == request.debited_account);
    let account = account.ok_or(Rejection::UnknownAccount)?;
    let is_debitable = account.is_active && account.category.can_be_debited();
    if is_debitable { Ok(*account) } else { Err(Rejection::AccountNotDebitable) }
}
