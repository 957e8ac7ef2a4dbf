//! What quotes, trials and confirms begin with: everything that can be refused before the provider is asked about the sale
//! itself.

use provider::Provider;
use purchase::{OrganisationId, Price, PurchaseRequest};
use vend::{CallId, Customer, Sale};

use crate::{Desk, Rejection};

/// A sale that may be put to its provider.
pub(crate) struct Admitted<'desk> {
    pub(crate) provider: &'desk dyn Provider,
    pub(crate) price: Price,
    pub(crate) customer: Customer,
    /// A fresh name for the call that puts it.
    pub(crate) call: CallId,
    pub(crate) sale: Sale,
}

impl Desk {
    /// Prices the request, asks the provider who the customer is, and takes a name for the next call.
    pub(crate) async fn admit(
        &self,
        organisation: OrganisationId,
        request: &PurchaseRequest,
    ) -> Result<Admitted<'_>, Rejection> {
        let price = self.price(organisation, request).await?;
        let provider = self.provider(&request.provider_code).ok_or(Rejection::Internal)?.as_ref();
        let customer = self.admit_customer(provider, request, price.net).await?;
        let call = self.call_id(&request.provider_code).await?;
        let sale =
            Sale { product: request.product, subscriber: request.subscriber.clone(), amount: price.net };
        Ok(Admitted { provider, price, customer, call, sale })
    }
}
