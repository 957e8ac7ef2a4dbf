//! The aggregator: what it answers to each operation.

use std::{
    sync::{Arc, atomic::AtomicI64},
    time::Duration,
};

use clock::SharedClock;
use money::Currency;

use super::{Ask, Keys, Message, Rejection, Reply, Request, Verification, message::Transaction};
use crate::{
    answer::Answer,
    memory::{Memory, SharedHabits},
    meter::Meter,
    meters::Meters,
    product::Service,
    scenario::Scenario,
    script::{Misbehaviour, Mishap, Operation, Script},
    settings::{SettingsError, SimulatorSettings, VtpassSettings},
    tariff::{Prices, Tariff},
    utility::{Stage, can_vend, object},
    vend_log::VendLog,
    vendor_float::VendorFloat,
};

/// The currency of the account. The interface never states it.
const CURRENCY: &str = "NGN";

/// The state of the simulated aggregator.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(super) log: Arc<VendLog>,
    pub(super) meters: Arc<Meters>,
    pub(super) clock: SharedClock,
    pub(super) settings: VtpassSettings,
    pub(super) tariff: Tariff,
    pub(super) float: VendorFloat,
    /// How long the delayed meter delays its answer.
    pub(super) delayed: Duration,
    pub(super) memory: Memory<String, Transaction>,
    /// Starts at the current time in milliseconds, so that a restarted aggregator gives new numbers.
    pub(super) next_number: AtomicI64,
}

impl Agent {
    /// An aggregator that sells for these meters and records its sales in this log.
    pub(crate) fn open(
        settings: &SimulatorSettings,
        habits: SharedHabits,
        log: Arc<VendLog>,
        meters: Arc<Meters>,
        clock: SharedClock,
    ) -> Result<Self, SettingsError> {
        let currency = currency();
        let prices =
            Prices { per_kwh: settings.price_per_kwh()?, per_cubic_metre: settings.price_per_cubic_metre()? };
        Ok(Self {
            log,
            meters,
            settings: settings.vtpass.clone(),
            tariff: Tariff::new(currency, prices),
            float: VendorFloat::new(settings.vtpass_balance(currency)?),
            delayed: Duration::from_millis(settings.delayed_ms),
            memory: Memory::new(habits),
            next_number: AtomicI64::new(clock.now().timestamp_millis()),
            clock,
        })
    }

    /// The currency of the account.
    pub(crate) fn currency(&self) -> Currency {
        self.tariff.currency()
    }

    /// The scripted fault for this request. Uses it up.
    pub(crate) fn scripted(&self, script: &Script, request: &Request) -> Option<Misbehaviour> {
        let operation = match &request.ask {
            Ask::Verify(_) => Operation::Check,
            Ask::Pay(_) => Operation::Vend,
            Ask::Requery { .. } => Operation::Enquiry,
            Ask::Unreadable(_) => Operation::Any,
        };
        script.take(operation, || match &request.ask {
            Ask::Verify(question) => Some(question.meter.clone()),
            Ask::Pay(order) => Some(order.meter.clone()),
            Ask::Requery { request_id } => self.memory.find(request_id).map(|sold| sold.order.meter.clone()),
            Ask::Unreadable(_) => None,
        })
    }

    /// Answers a request. A sale is complete when this returns, even if the answer is lost.
    pub(crate) fn answer(&self, request: &Request, scripted: Option<&Misbehaviour>) -> Answer<Message> {
        if scripted.is_some_and(|line| line.fault == Mishap::DropBefore) {
            return Answer::Silence;
        }
        if let Ask::Requery { request_id } = &request.ask
            && self.is_unanswered(request_id)
        {
            return Answer::Silence;
        }
        let answer = match &request.ask {
            _ if !self.knows(request.keys.as_ref()) => rejected(Rejection::wrong_keys()),
            Ask::Unreadable(rejection) => rejected(rejection.clone()),
            Ask::Pay(order) => self.pay(order, scripted),
            Ask::Verify(question) => unless_refused(self.customer(question), scripted),
            Ask::Requery { request_id } => unless_refused(self.requery(request_id, scripted), scripted),
        };
        match scripted {
            Some(misbehaviour) => answer.spoiled_by(misbehaviour),
            None => answer,
        }
    }

    /// Forgets all transactions.
    pub(crate) fn forget(&self) {
        self.memory.forget();
    }

    fn customer(&self, question: &Verification) -> Reply {
        if question.service_id != self.settings.service_id {
            return Reply::Rejection(Rejection::unknown_product());
        }
        let found = self.meters.find_for(Service::Electricity, &question.meter);
        match found.and_then(|meter| object(Stage::Check, meter).map(|()| meter)) {
            Ok(meter) => Reply::Customer {
                meter: Box::new(meter.data()),
                can_vend: can_vend(meter.scenario()),
                limits: self.tariff.limits(meter.scenario()),
            },
            Err(refusal) => Reply::NoSuchCustomer { why: refusal.text.into_owned() },
        }
    }

    /// Whether no answer about this sale ever arrives.
    fn is_unanswered(&self, request_id: &String) -> bool {
        let sold = self.memory.find(request_id);
        let meter = sold.and_then(|sold| self.meters.find(&sold.order.meter).map(Meter::scenario).ok());
        meter == Some(Scenario::Unanswered)
    }

    fn requery(&self, request_id: &String, scripted: Option<&Misbehaviour>) -> Reply {
        let hidden = scripted.is_some_and(|line| line.fault == Mishap::MissingThenPresent);
        let stored = self.memory.find(request_id).filter(|_| !hidden);
        stored.map_or_else(
            || Reply::Rejection(Rejection::unknown_request_id()),
            |sold| Reply::Transaction(Box::new(sold.statement(self.clock.monotonic()))),
        )
    }

    fn knows(&self, keys: Option<&Keys>) -> bool {
        keys.is_some_and(|keys| {
            keys.api_key == self.settings.api_key.expose()
                && keys.secret_key == self.settings.secret_key.expose()
        })
    }
}

/// The answer, at once.
pub(super) fn prompt(reply: Reply) -> Answer<Message> {
    Answer::prompt(Message { reply })
}

/// The answer to a question, unless a script refuses the question.
fn unless_refused(reply: Reply, scripted: Option<&Misbehaviour>) -> Answer<Message> {
    let refused = scripted.and_then(Misbehaviour::vtpass_refusal);
    prompt(refused.map_or(reply, Reply::Rejection))
}

pub(super) fn rejected(rejection: Rejection) -> Answer<Message> {
    prompt(Reply::Rejection(rejection))
}

fn currency() -> Currency {
    Currency::in_hundredths(CURRENCY).expect("the naira has an ISO 4217 code")
}
