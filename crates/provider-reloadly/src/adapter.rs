//! The adapter: it refuses locally where possible, and otherwise sends a request and judges the reply.

use std::time::Duration;

use async_trait::async_trait;
use clock::SharedClock;
use money::Money;
use provider::{Gate, Provider};
use provider_http::Transport;
use vend::{
    CallId, Customer, Doubt, Enquiry, NoStatement, Product, Quotation, Refusal, RefusalReason, Sale,
    StatementPage, StatementRequest, SubscriberIdentifier, Unanswered, VendOrder, VendOutcome,
};

use crate::access::{NoAccess, Pass};
use crate::classify::{self, Asked};
use crate::gateway::{self, Gateway, Unread};
use crate::listing;
use crate::operator::Operator;
use crate::operator_memory::OperatorMemory;
use crate::phone::Phone;
use crate::request;
use crate::rules::Rules;
use crate::settings::{ReloadlySettings, SettingsError};

/// A connection to one account at the vendor.
#[derive(Debug)]
pub struct Reloadly {
    gateway: Gateway,
    /// Orders have their own connections. A connection ends with the runtime that opened it. Some runtimes that send
    /// questions end before the last order is answered.
    orders: Transport,
    questions: Transport,
    rules: Rules,
    operators: OperatorMemory,
    vend_timeout: Duration,
    enquiry_timeout: Duration,
    clock: SharedClock,
}

/// Everything that must be known before an order is sent.
struct Prepared {
    operator: Operator,
    pass: Pass,
}

impl Reloadly {
    /// Checks the settings and builds the clients. It does not connect yet.
    ///
    /// # Errors
    /// If a setting is not usable.
    pub fn new(settings: &ReloadlySettings, clock: SharedClock) -> Result<Self, SettingsError> {
        settings.check_timeouts()?;
        Ok(Self {
            gateway: Gateway::new(settings, clock.clone())?,
            orders: gateway::transport(settings)?,
            questions: gateway::transport(settings)?,
            rules: Rules::new(settings)?,
            operators: OperatorMemory::new(clock.clone()),
            vend_timeout: Duration::from_millis(settings.vend_timeout_ms),
            enquiry_timeout: Duration::from_millis(settings.enquiry_timeout_ms),
            clock,
        })
    }

    /// The phone number of the subscriber. It is refused if the product or the number cannot be sold.
    fn phone(&self, product: Product, subscriber: &SubscriberIdentifier) -> Result<Phone, Refusal> {
        if !sells(product) {
            return Err(Refusal::because(RefusalReason::Misconfigured));
        }
        let unknown = || Refusal::because(RefusalReason::UnknownSubscriber);
        Phone::ordered(subscriber.as_str(), self.rules.country).ok_or_else(unknown)
    }

    /// Asks the vendor for the network of the number, and remembers it.
    async fn detect(&self, transport: &Transport, phone: &Phone) -> Result<Operator, Unanswered> {
        let reply = self.gateway.detect(transport, phone).await.map_err(unanswered)?;
        let operator = classify::operator(&reply, &self.rules)?;
        self.operators.learn(phone.clone(), operator.clone());
        Ok(operator)
    }

    async fn operator(&self, transport: &Transport, phone: &Phone) -> Result<Operator, Unanswered> {
        match self.operators.of(phone) {
            Some(operator) => Ok(operator),
            None => self.detect(transport, phone).await,
        }
    }

    fn admit(&self, operator: &Operator, amount: Money) -> Result<(), Refusal> {
        if amount.currency() != self.rules.currency {
            return Err(Refusal::because(RefusalReason::Misconfigured));
        }
        operator.admit(amount)
    }

    /// Gets everything that the order needs. No byte of the order was sent before, so every failure here is a proven
    /// refusal.
    async fn prepare(&self, order: &VendOrder, phone: &Phone) -> Result<Prepared, Refusal> {
        let never_sent = || Refusal::because(RefusalReason::NeverSent);
        let preparing = async {
            let operator =
                self.operator(&self.orders, phone).await.map_err(|unanswered| match unanswered {
                    Unanswered::Refused(refusal) => refusal,
                    Unanswered::Unreachable | Unanswered::NoAnswer(_) => never_sent(),
                })?;
            self.admit(&operator, order.sale.amount)?;
            let pass = self.gateway.pass(&self.orders).await.map_err(|no_access| match no_access {
                NoAccess::Denied => Refusal::because(RefusalReason::Misconfigured),
                NoAccess::NoReply(_) | NoAccess::Unreadable => never_sent(),
            })?;
            Ok(Prepared { operator, pass })
        };
        let in_time = tokio::time::timeout(self.enquiry_timeout, preparing).await;
        in_time.unwrap_or_else(|_elapsed| Err(never_sent()))
    }

    async fn send(&self, order: &VendOrder, gate: &Gate) -> VendOutcome {
        let started = self.clock.monotonic();
        let phone = match self.phone(order.sale.product, &order.sale.subscriber) {
            Ok(phone) => phone,
            Err(refusal) => return VendOutcome::Refused(refusal),
        };
        let prepared = match self.prepare(order, &phone).await {
            Ok(prepared) => prepared,
            Err(refusal) => return VendOutcome::Refused(refusal),
        };
        let operator = prepared.operator.id;
        let body = request::top_up(order, operator, &phone, self.gateway.country());
        let left = self.vend_timeout.saturating_sub(self.clock.monotonic().elapsed_since(started));
        let outcome = match self.gateway.order(&self.orders, &prepared.pass, body, gate, left).await {
            Ok(reply) => {
                let asked = Asked { order, phone: &phone, operator: Some(operator) };
                classify::vend(&reply, asked, &self.rules)
            }
            Err(no_reply) => no_reply.outcome(),
        };
        // The number may have moved to another network, or the network may have changed its amounts.
        if matches!(outcome, VendOutcome::Refused(_)) {
            self.operators.forget(&phone);
        }
        outcome
    }

    async fn find_out(&self, order: &VendOrder) -> Enquiry {
        let Ok(phone) = self.phone(order.sale.product, &order.sale.subscriber) else {
            return Enquiry::Unanswered(Doubt::Mismatched.into());
        };
        match self.gateway.report(&self.questions, &order.reference.to_string()).await {
            Ok(reply) => {
                let asked = Asked { order, phone: &phone, operator: None };
                classify::enquiry(&reply, asked, &self.rules)
            }
            Err(unread) => Enquiry::Unanswered(doubt(unread).into()),
        }
    }
}

#[async_trait]
impl Provider for Reloadly {
    async fn check(
        &self,
        _call: CallId,
        product: Product,
        subscriber: &SubscriberIdentifier,
    ) -> Result<Customer, Unanswered> {
        let phone = self.phone(product, subscriber).map_err(Unanswered::Refused)?;
        Ok(self.detect(&self.questions, &phone).await?.customer())
    }

    async fn quote(&self, _call: CallId, sale: &Sale) -> Result<Quotation, Unanswered> {
        let phone = self.phone(sale.product, &sale.subscriber).map_err(Unanswered::Refused)?;
        let operator = self.operator(&self.questions, &phone).await?;
        self.admit(&operator, sale.amount).map_err(Unanswered::Refused)?;
        Ok(Quotation { units: None, breakdown: None, subscriber_details: None })
    }

    /// A top-up makes no token, and the vendor has no trial of a sale without money. A success would claim a proof that
    /// does not exist, so every trial is refused.
    async fn trial(&self, _call: CallId, _sale: &Sale) -> Result<Quotation, Unanswered> {
        Err(Unanswered::Refused(Refusal::because(RefusalReason::Misconfigured)))
    }

    async fn vend(&self, order: &VendOrder, gate: &Gate) -> VendOutcome {
        self.send(order, gate).await
    }

    async fn float(&self, _call: CallId) -> Result<Option<Money>, Unanswered> {
        let reply = self.gateway.balance(&self.questions).await.map_err(unanswered)?;
        classify::balance(&reply, &self.rules).map(Some)
    }

    async fn statement(&self, asked: &StatementRequest) -> Result<StatementPage, NoStatement> {
        let zone = self.rules.report_time_zone.ok_or(NoStatement::SettingMissing("report_time_zone"))?;
        let query = listing::query(asked, zone);
        let query = query.iter().map(|(name, value)| (*name, value.as_str()));
        let reply = self.gateway.transactions(&self.questions, query).await.map_err(unanswered)?;
        classify::answered(&reply)?;
        Ok(listing::page(&reply, &self.rules, zone)?)
    }

    async fn enquire(&self, _call: CallId, order: &VendOrder) -> Enquiry {
        self.find_out(order).await
    }
}

const fn sells(product: Product) -> bool {
    match product {
        Product::Airtime => true,
        Product::Electricity | Product::Water => false,
    }
}

/// The result of a question without a reply. Without a pass, the question was never sent.
const fn unanswered(unread: Unread) -> Unanswered {
    match unread {
        Unread::NoAccess(NoAccess::Denied) => {
            Unanswered::Refused(Refusal::because(RefusalReason::Misconfigured))
        }
        Unread::NoAccess(NoAccess::NoReply(_)) => Unanswered::Unreachable,
        Unread::NoAccess(NoAccess::Unreadable) => Unanswered::NoAnswer(Doubt::Unreadable),
        Unread::NoReply(no_reply) => no_reply.unanswered(),
    }
}

const fn doubt(unread: Unread) -> Doubt {
    match unread {
        Unread::NoAccess(NoAccess::Denied) => Doubt::UnlistedFault,
        Unread::NoAccess(NoAccess::NoReply(no_reply)) | Unread::NoReply(no_reply) => no_reply.doubt(),
        Unread::NoAccess(NoAccess::Unreadable) => Doubt::Unreadable,
    }
}
