//! The utility: what it answers to each operation.

mod base_rules;
mod past;
mod sale;

use std::{
    sync::{Arc, atomic::AtomicI64},
    time::Duration,
};

use chrono::{DateTime, FixedOffset};
use clock::SharedClock;
use sts::Entry;

pub(crate) use base_rules::{Stage, can_vend, object};

use crate::{
    answer::Answer,
    event_log::{Event, EventLog},
    local_time::in_gaborone,
    memory::{Memory, SharedHabits},
    meter::Meter,
    meters::Meters,
    refusal::Refusal,
    scenario::Scenario,
    script::{Misbehaviour, Mishap, Operation, Script},
    settings::{Password, SettingsError, SimulatorSettings},
    tariff::{Prices, Tariff},
    vend_log::VendLog,
    vendor_float::VendorFloat,
    xmlvend::{
        Ask, Credentials, CustomerReply, Header, Message, MessageName, MsgId, Receipt, Reply, Request,
        Sender, Style,
    },
};

/// The state of the simulated utility.
#[derive(Debug)]
pub(crate) struct Utility {
    log: Arc<VendLog>,
    events: Arc<EventLog>,
    op_name: String,
    password: Password,
    delayed: Duration,
    clock: SharedClock,
    meters: Arc<Meters>,
    memory: Memory<MessageName, Message>,
    tariff: Tariff,
    float: VendorFloat,
    /// Starts at the current time in milliseconds, so that a restarted utility issues new numbers.
    next_receipt: AtomicI64,
}

impl Utility {
    /// A utility that records its vends in this log.
    pub(crate) fn open(
        settings: &SimulatorSettings,
        habits: SharedHabits,
        log: Arc<VendLog>,
        events: Arc<EventLog>,
        meters: Arc<Meters>,
        clock: SharedClock,
    ) -> Result<Self, SettingsError> {
        let prices =
            Prices { per_kwh: settings.price_per_kwh()?, per_cubic_metre: settings.price_per_cubic_metre()? };
        Ok(Self {
            log,
            events,
            op_name: settings.op_name.clone(),
            password: settings.password.clone(),
            delayed: Duration::from_millis(settings.delayed_ms),
            meters,
            memory: Memory::new(habits),
            tariff: Tariff::new(settings.currency()?, prices),
            float: VendorFloat::new(settings.vendor_credit()?),
            next_receipt: AtomicI64::new(clock.now().timestamp_millis()),
            clock,
        })
    }

    /// The scripted fault for this request. Uses it up.
    pub(crate) fn scripted(&self, script: &Script, request: &Request) -> Option<Misbehaviour> {
        let operation = match &request.ask {
            Ask::Customer { .. } => Operation::Check,
            Ask::TrialVend(_) => Operation::Quote,
            Ask::Vend(_) => Operation::Vend,
            Ask::LastResponse { .. } => Operation::Enquiry,
            Ask::Unsupported => Operation::Any,
        };
        script.take(operation, || match &request.ask {
            Ask::Customer { meter } => Some(meter.clone()),
            Ask::TrialVend(order) | Ask::Vend(order) => Some(order.meter.clone()),
            Ask::LastResponse { about } => self.subscriber_of(request, about),
            Ask::Unsupported => None,
        })
    }

    /// Answers a request. A vend is complete when this returns, even if the answer is lost.
    pub(crate) fn answer(&self, request: &Request, scripted: Option<&Misbehaviour>) -> Answer<Message> {
        let sender = &request.sender;
        if scripted.is_some_and(|line| line.fault == Mishap::DropBefore) || self.is_lost(&request.ask) {
            return Answer::Silence;
        }
        let answer = if !self.authorises(request.credentials.as_ref()) {
            self.refuse(sender, Refusal::not_authorised())
        } else if let Ask::Vend(order) = &request.ask {
            self.vend(sender, order, scripted.and_then(Misbehaviour::refusal))
        } else if self.memory.note(&sender.message_name()) {
            let reply = self.reply_to_question(request, scripted).unwrap_or_else(Reply::Fault);
            Answer::prompt(self.message(sender, reply))
        } else {
            self.refuse(sender, Refusal::repeated_message_id())
        };
        if self.is_unanswered(request) {
            return Answer::Silence;
        }
        match scripted {
            Some(misbehaviour) => answer.spoiled_by(misbehaviour),
            None => answer,
        }
    }

    /// Refuses a request, which may have been parsed only in part.
    pub(crate) fn refuse(&self, sender: &Sender, refusal: Refusal) -> Answer<Message> {
        Answer::prompt(self.message(sender, Reply::Fault(refusal)))
    }

    /// Enters a token into a meter and returns the total credit. `None` if there is no such meter.
    pub(crate) fn enter(&self, meter: &str, digits: &str) -> Option<(Entry, String)> {
        let meter = self.meters.find(meter).ok()?;
        let (entry, tenths) = meter.enter(digits);
        self.note_entry(meter, digits);
        Some((entry, meter.service().shown(tenths)))
    }

    /// Replaces a meter by a new one of the same number. `None` if there is no such meter.
    pub(crate) fn reset(&self, meter: &str) -> Option<()> {
        let meter = self.meters.find(meter).ok()?;
        meter.reset();
        self.events.append(&Event::Reset { meter: meter.number().to_owned() });
        Some(())
    }

    fn note_entry(&self, meter: &Meter, digits: &str) {
        self.events.append(&Event::Entered { meter: meter.number().to_owned(), token: digits.to_owned() });
    }

    /// Forgets all answers and all used names.
    pub(crate) fn forget(&self) {
        self.memory.forget();
    }

    fn reply_to_question(
        &self,
        request: &Request,
        scripted: Option<&Misbehaviour>,
    ) -> Result<Reply, Refusal> {
        let reply = match &request.ask {
            Ask::Customer { meter } => {
                let meter = self.meters.find(meter)?;
                object(Stage::Check, meter)?;
                Reply::Customer(CustomerReply {
                    meter: meter.data(),
                    can_vend: can_vend(meter.scenario()),
                    limits: self.tariff.limits(meter.scenario()),
                })
            }
            Ask::TrialVend(order) => {
                let meter = self.meters.find_for(order.service, &order.meter)?;
                object(Stage::Quote, meter)?;
                let split = self.tariff.split(order.service, meter.scenario(), self.tariff.tender(order)?)?;
                let (issue, available_credit) = (meter.trial(), self.float.left());
                let number = "TRIAL".to_owned();
                Reply::TrialVend(Box::new(Receipt { number, split, issue, available_credit }))
            }
            Ask::LastResponse { about } => {
                let hidden = scripted.is_some_and(|line| line.fault == Mishap::MissingThenPresent);
                let name = (request.sender.client.clone(), about.clone());
                let stored = self.memory.find(&name).filter(|_| !hidden);
                let stored = stored.ok_or_else(Refusal::no_such_transaction)?;
                Reply::LastResponse { about: about.clone(), stored }
            }
            Ask::Vend(_) | Ask::Unsupported => return Err(Refusal::unsupported_use_case()),
        };
        scripted.and_then(Misbehaviour::refusal).map_or(Ok(reply), Err)
    }

    fn is_lost(&self, ask: &Ask) -> bool {
        let Ask::Vend(order) = ask else { return false };
        self.is_of(&order.meter, Scenario::LostRequest)
    }

    /// Whether no answer about this vend ever arrives.
    fn is_unanswered(&self, request: &Request) -> bool {
        match &request.ask {
            Ask::Vend(order) => self.is_of(&order.meter, Scenario::Unanswered),
            Ask::LastResponse { about } => self
                .subscriber_of(request, about)
                .is_some_and(|meter| self.is_of(&meter, Scenario::Unanswered)),
            Ask::Customer { .. } | Ask::TrialVend(_) | Ask::Unsupported => false,
        }
    }

    fn is_of(&self, meter: &str, scenario: Scenario) -> bool {
        self.meters.find(meter).is_ok_and(|meter| meter.scenario() == scenario)
    }

    /// The subscriber of the vend that an enquiry is about.
    fn subscriber_of(&self, request: &Request, about: &MsgId) -> Option<String> {
        let name = (request.sender.client.clone(), about.clone());
        self.memory.find(&name).as_deref().and_then(Message::subscriber)
    }

    fn authorises(&self, credentials: Option<&Credentials>) -> bool {
        credentials
            .is_some_and(|given| given.op_name == self.op_name && given.password == self.password.expose())
    }

    fn message(&self, to: &Sender, reply: Reply) -> Message {
        Message { header: Header { to: to.clone(), at: self.now() }, reply, style: Style::default() }
    }

    fn now(&self) -> DateTime<FixedOffset> {
        in_gaborone(&*self.clock)
    }
}
