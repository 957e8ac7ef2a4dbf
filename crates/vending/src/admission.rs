//! The first part of quotes, trials and confirms: everything that can be refused before the provider is asked about
//! the sale itself.

use clock::Monotonic;
use provider::Provider;
use purchase::{OrganisationId, Price, PurchaseRequest};
use vend::{CallId, Customer, Sale};

use crate::{Rejection, Service};

/// A sale that may be sent to its provider.
pub(crate) struct Admitted<'service> {
    pub(crate) provider: &'service dyn Provider,
    pub(crate) price: Price,
    pub(crate) customer: Customer,
    /// When the check of the customer began and ended, if traces are on.
    pub(crate) checked: Option<(Monotonic, Monotonic)>,
    /// A fresh id for the call that sends it.
    pub(crate) call: CallId,
    pub(crate) sale: Sale,
}

impl Service {
    /// Prices the request, asks the provider for the customer, and takes an id for the next call.
    pub(crate) async fn prepare_sale(
        &self,
        organisation: OrganisationId,
        request: &PurchaseRequest,
    ) -> Result<Admitted<'_>, Rejection> {
        let price = self.price(organisation, request).await?;
        let provider = self.provider(&request.provider_code).ok_or(Rejection::Internal)?.as_ref();
        let checking = self.traces.now();
        let customer = self.admit_customer(provider, request, price.net).await?;
        let checked = checking.zip(self.traces.now());
        let call = self.call_id(&request.provider_code).await?;
        let sale =
            Sale { product: request.product, subscriber: request.subscriber.clone(), amount: price.net };
        Ok(Admitted { provider, price, customer, checked, call, sale })
    }
}
