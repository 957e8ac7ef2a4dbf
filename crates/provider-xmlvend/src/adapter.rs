//! The adapter: each method writes one message, sends it, and judges the reply.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use money::Money;
use provider::{Gate, Provider};
use provider_http::NoReply;
use vend::{
    CallId, Customer, Doubt, Enquiry, Product, Quotation, Refusal, RefusalReason, Sale, SubscriberIdentifier,
    Unanswered, Unclear, VendOrder, VendOutcome,
};

use crate::classify::{self, Judged, Rehearsed, Untried};
use crate::request::{Message, Sender};
use crate::rules::Rules;
use crate::settings::{SettingsError, XmlVendSettings};
use crate::transport::Gateway;
use crate::tree::Malformed;

/// A connection to one XMLVend gateway.
#[derive(Debug)]
pub struct XmlVend {
    sender: Sender,
    rules: Rules,
    /// Orders have their own connections. A connection ends with the runtime that opened it. Some runtimes that send
    /// questions end before the last order is answered.
    orders: Gateway,
    questions: Gateway,
    vend_timeout: Duration,
    enquiry_timeout: Duration,
    /// Our credit at the gateway as the last vend told it, until it is taken.
    credit: Mutex<Option<Money>>,
}

impl XmlVend {
    /// Checks the settings and builds the clients. It does not connect yet.
    ///
    /// # Errors
    /// If a setting is not usable.
    pub fn new(settings: XmlVendSettings) -> Result<Self, SettingsError> {
        settings.check_timeouts()?;
        Ok(Self {
            rules: Rules::new(&settings)?,
            orders: Gateway::new(&settings)?,
            questions: Gateway::new(&settings)?,
            vend_timeout: Duration::from_millis(settings.vend_timeout_ms),
            enquiry_timeout: Duration::from_millis(settings.enquiry_timeout_ms),
            credit: Mutex::default(),
            sender: Sender {
                client: settings.client,
                terminal: settings.terminal,
                credentials: settings.credentials,
            },
        })
    }

    /// Refuses a product or a currency that this gateway does not sell. Live gateways often omit the currency in their
    /// answers, and some ignore it in requests. They would vend an amount of another currency in their own currency.
    fn admit(&self, sale: &Sale) -> Result<(), Refusal> {
        if classify::sells(sale.product) && sale.amount.currency() == self.rules.currency {
            Ok(())
        } else {
            Err(Refusal::because(RefusalReason::Misconfigured))
        }
    }

    /// Sends a question that moves no money.
    async fn ask(&self, message: Message<'_>) -> Result<Vec<u8>, NoReply> {
        self.questions.exchange(message, &Gate::while_true(|| true), self.enquiry_timeout).await
    }

    /// Has the gateway rehearse a sale without money. Quotes and trials use the same message.
    async fn rehearse(
        &self,
        call: CallId,
        sale: &Sale,
        judge: fn(&[u8], CallId, &Sale, &Rules) -> Result<Rehearsed, Malformed>,
    ) -> Result<Quotation, Unanswered> {
        self.admit(sale).map_err(Unanswered::Refused)?;
        let raw = self.ask(self.sender.trial_credit_vend(call, sale)).await.map_err(NoReply::unanswered)?;
        let judged = judge(&raw, call, sale, &self.rules)
            .unwrap_or_else(|malformed| Err(unreadable_rehearsal(malformed, call).into()));
        judged.map_err(|untried| {
            log_untried(&untried, call);
            untried.into()
        })
    }

    async fn send(&self, order: &VendOrder, gate: &Gate) -> VendOutcome {
        let message = self.sender.credit_vend(order);
        match self.orders.exchange(message, gate, self.vend_timeout).await {
            Ok(raw) => match classify::vend(&raw, order, &self.rules) {
                Ok(Judged { outcome, credit }) => {
                    if credit.is_some() {
                        *self.credit() = credit;
                    }
                    outcome
                }
                Err(malformed) => {
                    log_unreadable(malformed, order);
                    VendOutcome::Unknown(Unclear::said(Doubt::Unreadable, &raw))
                }
            },
            Err(no_reply) => no_reply.outcome(),
        }
    }

    fn credit(&self) -> MutexGuard<'_, Option<Money>> {
        self.credit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn find_out(&self, call: CallId, order: &VendOrder) -> Enquiry {
        match self.ask(self.sender.last_response(call, order)).await {
            Ok(raw) => classify::enquiry(&raw, call, order, &self.rules).unwrap_or_else(|malformed| {
                log_unreadable(malformed, order);
                Enquiry::Unanswered(Unclear::said(Doubt::Unreadable, &raw))
            }),
            Err(no_reply) => Enquiry::Unanswered(no_reply.doubt().into()),
        }
    }
}

#[async_trait]
impl Provider for XmlVend {
    async fn check(
        &self,
        call: CallId,
        product: Product,
        subscriber: &SubscriberIdentifier,
    ) -> Result<Customer, Unanswered> {
        if !classify::sells(product) {
            return Err(Unanswered::Refused(Refusal::because(RefusalReason::Misconfigured)));
        }
        let raw =
            self.ask(self.sender.confirm_customer(call, subscriber)).await.map_err(NoReply::unanswered)?;
        classify::customer(&raw, call, subscriber, &self.rules).unwrap_or_else(|malformed| {
            tracing::warn!(%call, why = %malformed, "a customer check got an answer that cannot be read");
            Err(Unanswered::NoAnswer(Doubt::Unreadable))
        })
    }

    async fn quote(&self, call: CallId, sale: &Sale) -> Result<Quotation, Unanswered> {
        self.rehearse(call, sale, classify::quotation).await
    }

    async fn trial(&self, call: CallId, sale: &Sale) -> Result<Quotation, Unanswered> {
        self.rehearse(call, sale, classify::trial).await
    }

    async fn vend(&self, order: &VendOrder, gate: &Gate) -> VendOutcome {
        if let Err(refusal) = self.admit(&order.sale) {
            return VendOutcome::Refused(refusal);
        }
        self.send(order, gate).await
    }

    async fn enquire(&self, call: CallId, order: &VendOrder) -> Enquiry {
        self.find_out(call, order).await
    }

    fn mentioned_float(&self) -> Option<Money> {
        self.credit().take()
    }
}

fn unreadable_rehearsal(malformed: Malformed, call: CallId) -> Unanswered {
    tracing::warn!(%call, why = %malformed, "a trial vend got an answer that cannot be read");
    Unanswered::NoAnswer(Doubt::Unreadable)
}

/// Logs why a trial proves nothing. After a real token the operator must examine the gateway's own list of sales. The
/// token itself is not logged.
fn log_untried(untried: &Untried, call: CallId) {
    match untried {
        Untried::RealToken => {
            tracing::error!(%call, "a trial vend got a token that is not all zeros; the gateway may have vended");
        }
        Untried::TokenMissing => {
            tracing::warn!(%call, "a trial returned fewer tokens than a real vend must have");
        }
        Untried::Unanswered(_) => {}
    }
}

fn log_unreadable(malformed: Malformed, order: &VendOrder) {
    tracing::warn!(reference = %order.reference, why = %malformed, "an answer cannot be read");
}
