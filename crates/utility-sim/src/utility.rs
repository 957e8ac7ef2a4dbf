//! The utility at its counter: what it answers to each operation, and how.

mod answer;
mod house_rules;
mod sale;

use std::{io, sync::atomic::AtomicI64, time::Duration};

use chrono::{DateTime, FixedOffset};
use clock::SharedClock;
use sts::Entry;

pub(crate) use answer::Answer;
use house_rules::Stage;

use crate::{
    memory::Memory,
    meters::Meters,
    refusal::Refusal,
    scenario::Scenario,
    script::{Misbehaviour, Mishap, Operation, Script},
    settings::{OnRepeat, Password, SettingsError, SimulatorSettings},
    tariff::Tariff,
    vend_log::VendLog,
    vendor_float::VendorFloat,
    xmlvend::{Ask, Credentials, CustomerReply, Header, Message, Receipt, Reply, Request, Sender},
};

/// Two hours east of Greenwich, all year: the wall clock of Gaborone, on which token identifiers count.
const SECONDS_EAST: i32 = 2 * 60 * 60;

/// All that the simulated utility knows.
#[derive(Debug)]
pub(crate) struct Utility {
    pub(crate) script: Script,
    pub(crate) log: VendLog,
    op_name: String,
    password: Password,
    delayed: Duration,
    on_repeat: OnRepeat,
    clock: SharedClock,
    meters: Meters,
    memory: Memory,
    tariff: Tariff,
    float: VendorFloat,
    /// Begins at the wall clock's milliseconds, so that a restarted utility issues new numbers.
    next_receipt: AtomicI64,
}

/// Why there is no utility.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpeningError {
    #[error("the settings describe no possible utility")]
    Settings(#[from] SettingsError),
    #[error("the vend log cannot be opened")]
    VendLog(#[from] io::Error),
}

impl Utility {
    pub(crate) fn open(settings: &SimulatorSettings, clock: SharedClock) -> Result<Self, OpeningError> {
        Ok(Self {
            script: Script::default(),
            log: VendLog::open(settings.vend_log.as_deref(), settings.vend_log_fsync)?,
            op_name: settings.op_name.clone(),
            password: settings.password.clone(),
            delayed: Duration::from_millis(settings.delayed_ms),
            on_repeat: settings.on_repeat,
            meters: Meters::register(settings.population),
            memory: Memory::new(settings.remembers, settings.on_repeat),
            tariff: Tariff::new(settings.currency()?, settings.price_per_kwh()?),
            float: VendorFloat::new(settings.vendor_credit()?),
            next_receipt: AtomicI64::new(clock.now().timestamp_millis()),
            clock,
        })
    }

    /// The misbehaviour that a script has for this request; asking uses it up.
    pub(crate) fn scripted(&self, request: &Request) -> Option<Misbehaviour> {
        let operation = match &request.ask {
            Ask::Customer { .. } => Operation::Check,
            Ask::TrialVend(_) => Operation::Quote,
            Ask::Vend(_) => Operation::Vend,
            Ask::LastResponse { .. } => Operation::Enquiry,
            Ask::Unsupported => Operation::Any,
        };
        self.script.take(operation, || match &request.ask {
            Ask::Customer { meter } => Some(meter.clone()),
            Ask::TrialVend(order) | Ask::Vend(order) => Some(order.meter.clone()),
            Ask::LastResponse { about } => {
                self.memory.find(&request.sender.client, about).as_deref().and_then(Message::subscriber)
            }
            Ask::Unsupported => None,
        })
    }

    /// Answers a request. A vend is whole when this returns, whatever becomes of the answer.
    pub(crate) fn answer(&self, request: &Request, scripted: Option<&Misbehaviour>) -> Answer {
        let sender = &request.sender;
        if scripted.is_some_and(|line| line.fault == Mishap::DropBefore) || self.is_lost(&request.ask) {
            return Answer::Silence;
        }
        let answer = if !self.authorises(request.credentials.as_ref()) {
            self.refuse(sender, Refusal::not_authorised())
        } else if let Ask::Vend(order) = &request.ask {
            self.vend(sender, order, scripted.and_then(Misbehaviour::refusal))
        } else if self.memory.note(sender) {
            let reply = self.reply_to_question(request, scripted).unwrap_or_else(Reply::Fault);
            Answer::prompt(self.message(sender, reply))
        } else {
            self.refuse(sender, Refusal::repeated_message_id())
        };
        match scripted {
            Some(misbehaviour) => answer.spoiled_by(misbehaviour),
            None => answer,
        }
    }

    /// Says no to a request, which may have been understood only in part.
    pub(crate) fn refuse(&self, sender: &Sender, refusal: Refusal) -> Answer {
        Answer::prompt(self.message(sender, Reply::Fault(refusal)))
    }

    /// Types a token into a meter; `None` if there is no such meter.
    pub(crate) fn enter(&self, meter: &str, digits: &str) -> Option<(Entry, u64)> {
        self.meters.find(meter).ok().map(|meter| meter.enter(digits))
    }

    fn reply_to_question(
        &self,
        request: &Request,
        scripted: Option<&Misbehaviour>,
    ) -> Result<Reply, Refusal> {
        let reply = match &request.ask {
            Ask::Customer { meter } => {
                let meter = self.meters.find(meter)?;
                house_rules::object(Stage::Check, meter)?;
                Reply::Customer(CustomerReply {
                    meter: meter.data(),
                    can_vend: house_rules::can_vend(meter.scenario()),
                    limits: self.tariff.limits(meter.scenario()),
                })
            }
            Ask::TrialVend(order) => {
                let meter = self.meters.find(&order.meter)?;
                house_rules::object(Stage::Quote, meter)?;
                let split = self.tariff.split(meter.scenario(), self.tariff.tender(order)?)?;
                let (issue, available_credit) = (meter.trial(), self.float.left());
                let number = "TRIAL".to_owned();
                Reply::TrialVend(Box::new(Receipt { number, split, issue, available_credit }))
            }
            Ask::LastResponse { about } => {
                let hidden = scripted.is_some_and(|line| line.fault == Mishap::MissingThenPresent);
                let stored = self.memory.find(&request.sender.client, about).filter(|_| !hidden);
                let stored = stored.ok_or_else(Refusal::no_such_transaction)?;
                Reply::LastResponse { about: about.clone(), stored }
            }
            Ask::Vend(_) | Ask::Unsupported => return Err(Refusal::unsupported_use_case()),
        };
        scripted.and_then(Misbehaviour::refusal).map_or(Ok(reply), Err)
    }

    fn is_lost(&self, ask: &Ask) -> bool {
        let Ask::Vend(order) = ask else { return false };
        self.meters.find(&order.meter).is_ok_and(|meter| meter.scenario() == Scenario::LostRequest)
    }

    fn authorises(&self, credentials: Option<&Credentials>) -> bool {
        credentials
            .is_some_and(|given| given.op_name == self.op_name && given.password == self.password.expose())
    }

    fn message(&self, to: &Sender, reply: Reply) -> Message {
        Message { header: Header { to: to.clone(), at: self.now() }, reply }
    }

    fn now(&self) -> DateTime<FixedOffset> {
        let east = FixedOffset::east_opt(SECONDS_EAST).expect("two hours are less than a day");
        self.clock.now().with_timezone(&east)
    }
}
