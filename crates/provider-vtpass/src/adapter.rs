//! The adapter: it refuses locally where possible, and otherwise sends a request and judges the reply.

use std::time::Duration;

use async_trait::async_trait;
use money::Currency;
use provider::{Gate, Provider};
use provider_http::NoReply;
use vend::{
    CallId, Customer, Enquiry, Product, Quotation, Refusal, RefusalReason, Sale, SubscriberIdentifier,
    Unanswered, VendOrder, VendOutcome,
};

use crate::classify::{self, Asked};
use crate::customer;
use crate::gateway::{Gateway, Operation};
use crate::request;
use crate::request_id::request_id;
use crate::rules::Rules;
use crate::settings::{SettingsError, VtpassSettings};

/// A connection to one distribution company through one account at the vendor.
#[derive(Debug)]
pub struct Vtpass {
    /// Orders have their own connections. A connection ends with the runtime that opened it. Some runtimes that send
    /// questions end before the last order is answered.
    orders: Gateway,
    questions: Gateway,
    rules: Rules,
    service_id: String,
    phone: String,
    vend_timeout: Duration,
    enquiry_timeout: Duration,
}

impl Vtpass {
    /// Checks the settings and builds the clients. It does not connect yet.
    ///
    /// # Errors
    /// If a setting is not usable.
    pub fn new(settings: &VtpassSettings) -> Result<Self, SettingsError> {
        settings.check_timeouts()?;
        Ok(Self {
            orders: Gateway::new(settings)?,
            questions: Gateway::new(settings)?,
            rules: Rules::new(settings)?,
            service_id: settings.service_id()?.to_owned(),
            phone: settings.phone()?.to_owned(),
            vend_timeout: Duration::from_millis(settings.vend_timeout_ms),
            enquiry_timeout: Duration::from_millis(settings.enquiry_timeout_ms),
        })
    }

    /// Asks the vendor for the customer of a meter.
    async fn verify(&self, meter: &SubscriberIdentifier) -> Result<Customer, Unanswered> {
        let body = request::verify(&self.service_id, meter);
        let asked = self.questions.post(Operation::Verify, body, &always(), self.enquiry_timeout).await;
        customer::customer(&asked.map_err(NoReply::unanswered)?, meter, &self.rules)
    }

    async fn send(&self, order: &VendOrder, gate: &Gate) -> VendOutcome {
        if let Err(refusal) = sells(order.sale.product, Some(order.sale.amount.currency()), &self.rules) {
            return VendOutcome::Refused(refusal);
        }
        let request_id = request_id(order.reference, &self.service_id);
        let body = request::pay(order, &request_id, &self.service_id, &self.phone);
        match self.orders.post(Operation::Pay, body, gate, self.vend_timeout).await {
            Ok(reply) => classify::vend(&reply, Asked { order, request_id: &request_id }, &self.rules),
            Err(no_reply) => no_reply.outcome(),
        }
    }

    async fn find_out(&self, order: &VendOrder) -> Enquiry {
        let request_id = request_id(order.reference, &self.service_id);
        let body = request::requery(&request_id);
        match self.questions.post(Operation::Requery, body, &always(), self.enquiry_timeout).await {
            Ok(reply) => classify::enquiry(&reply, Asked { order, request_id: &request_id }, &self.rules),
            Err(no_reply) => Enquiry::Unanswered(no_reply.doubt().into()),
        }
    }
}

#[async_trait]
impl Provider for Vtpass {
    async fn check(
        &self,
        _call: CallId,
        product: Product,
        subscriber: &SubscriberIdentifier,
    ) -> Result<Customer, Unanswered> {
        sells(product, None, &self.rules).map_err(Unanswered::Refused)?;
        self.verify(subscriber).await
    }

    /// The vendor has no quotes. The answer is whether this customer may buy this amount.
    async fn quote(&self, _call: CallId, sale: &Sale) -> Result<Quotation, Unanswered> {
        sells(sale.product, Some(sale.amount.currency()), &self.rules).map_err(Unanswered::Refused)?;
        let customer = self.verify(&sale.subscriber).await?;
        customer::admit(&customer, sale).map_err(Unanswered::Refused)?;
        Ok(Quotation { units: None, breakdown: None, subscriber_details: customer.name })
    }

    /// The vendor has no trial of a sale without money. A success would claim a proof that does not exist, so every trial is
    /// refused.
    async fn trial(&self, _call: CallId, _sale: &Sale) -> Result<Quotation, Unanswered> {
        Err(Unanswered::Refused(Refusal::because(RefusalReason::Misconfigured)))
    }

    async fn vend(&self, order: &VendOrder, gate: &Gate) -> VendOutcome {
        self.send(order, gate).await
    }

    async fn enquire(&self, _call: CallId, order: &VendOrder) -> Enquiry {
        self.find_out(order).await
    }
}

/// Refuses another product than electricity, and another currency than the naira: the vendor would read the number as
/// naira.
fn sells(product: Product, currency: Option<Currency>, rules: &Rules) -> Result<(), Refusal> {
    let is_electricity = match product {
        Product::Electricity => true,
        Product::Airtime | Product::Water => false,
    };
    if is_electricity && currency.is_none_or(|currency| currency == rules.currency) {
        Ok(())
    } else {
        Err(Refusal::because(RefusalReason::Misconfigured))
    }
}

/// The gate of a question, which moves no money.
fn always() -> Gate {
    Gate::while_true(|| true)
}
