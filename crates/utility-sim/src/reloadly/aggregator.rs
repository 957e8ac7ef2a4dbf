//! The aggregator: what it answers to each operation.

mod past;
mod sale;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicI64},
    time::Duration,
};

use chrono::Timelike as _;
use clock::SharedClock;
use money::Currency;

use super::{
    Ask, Message, Refusal, Reply, Request,
    access::Access,
    message::Report,
    operator::{COUNTRY, Operator},
    request::{ReportFilter, without_plus},
    topup::Topup,
};
use crate::{
    answer::Answer,
    local_time::in_gaborone,
    memory::{Memory, SharedHabits},
    script::{Misbehaviour, Mishap, Operation, Script},
    settings::{SettingsError, SimulatorSettings},
    vend_log::VendLog,
    vendor_float::VendorFloat,
};

/// The state of the simulated aggregator.
#[derive(Debug)]
pub(crate) struct Aggregator {
    log: Arc<VendLog>,
    access: Access,
    clock: SharedClock,
    currency: Currency,
    float: VendorFloat,
    processing: Duration,
    report_lag: Duration,
    memory: Memory<String, Topup>,
    /// The client's name for each top-up, by the aggregator's own number.
    names: Mutex<BTreeMap<i64, String>>,
    /// Starts at the current time in milliseconds, so that a restarted aggregator gives new numbers.
    next_number: AtomicI64,
}

impl Aggregator {
    /// An aggregator that records its top-ups in this log.
    pub(crate) fn open(
        settings: &SimulatorSettings,
        habits: SharedHabits,
        log: Arc<VendLog>,
        clock: SharedClock,
    ) -> Result<Self, SettingsError> {
        let airtime = &settings.airtime;
        Ok(Self {
            log,
            access: Access::new(airtime.clone(), Arc::clone(&clock)),
            currency: settings.currency()?,
            float: VendorFloat::new(settings.airtime_balance()?),
            processing: Duration::from_millis(airtime.processing_ms),
            report_lag: Duration::from_millis(airtime.report_lag_ms),
            memory: Memory::new(habits),
            names: Mutex::default(),
            next_number: AtomicI64::new(clock.now().timestamp_millis()),
            clock,
        })
    }

    /// The currency of the account.
    pub(crate) fn currency(&self) -> Currency {
        self.currency
    }

    /// The scripted fault for this request. Uses it up.
    pub(crate) fn scripted(&self, script: &Script, request: &Request) -> Option<Misbehaviour> {
        let operation = match &request.ask {
            Ask::Token(_) => Operation::Token,
            Ask::Operator { .. } => Operation::Check,
            Ask::Buy(_) => Operation::Vend,
            Ask::Status { .. } | Ask::Report { .. } => Operation::Enquiry,
            Ask::Operators { .. } | Ask::Balance | Ask::Unreadable(_) => Operation::Any,
        };
        script.take(operation, || match &request.ask {
            Ask::Operator { phone, .. } => Some(without_plus(phone).to_owned()),
            Ask::Buy(order) => Some(order.phone.clone()),
            Ask::Status { number } => self.find(*number).map(|topup| topup.order.phone.clone()),
            Ask::Report { filter, .. } => {
                let topup = filter.custom_identifier.as_ref().and_then(|name| self.memory.find(name));
                topup.map(|topup| topup.order.phone.clone())
            }
            Ask::Token(_) | Ask::Operators { .. } | Ask::Balance | Ask::Unreadable(_) => None,
        })
    }

    /// Answers a request. A top-up is complete when this returns, even if the answer is lost.
    pub(crate) fn answer(&self, request: &Request, scripted: Option<&Misbehaviour>) -> Answer<Message> {
        if scripted.is_some_and(|line| line.fault == Mishap::DropBefore) {
            return Answer::Silence;
        }
        let answer = match (self.admit(request, scripted), &request.ask) {
            (Err(refusal), _) => self.prompt(request, Reply::Refusal(refusal)),
            (Ok(()), Ask::Buy(order)) => self.buy(request, order, scripted),
            (Ok(()), question) => {
                let reply = self.reply_to_question(question, scripted);
                let refused = scripted.and_then(Misbehaviour::airtime_refusal);
                let reply = reply.and_then(|reply| refused.map_or(Ok(reply), Err));
                self.prompt(request, reply.unwrap_or_else(Reply::Refusal))
            }
        };
        match scripted {
            Some(misbehaviour) => answer.spoiled_by(misbehaviour),
            None => answer,
        }
    }

    /// Forgets all top-ups.
    pub(crate) fn forget(&self) {
        self.memory.forget();
    }

    /// Checks access. A script may refuse a request that would be admitted.
    fn admit(&self, request: &Request, scripted: Option<&Misbehaviour>) -> Result<(), Refusal> {
        if matches!(request.ask, Ask::Token(_)) {
            return Ok(());
        }
        self.access.admit(request.bearer.as_deref(), request.accept.as_deref())?;
        let refusal = scripted.and_then(Misbehaviour::airtime_refusal);
        refusal.filter(Refusal::is_unauthorized).map_or(Ok(()), Err)
    }

    fn reply_to_question(&self, ask: &Ask, scripted: Option<&Misbehaviour>) -> Result<Reply, Refusal> {
        let hidden = scripted.is_some_and(|line| line.fault == Mishap::MissingThenPresent);
        let currency = self.currency;
        match ask {
            Ask::Token(Ok(request)) => self.access.grant(request).map(Reply::Access),
            Ask::Operators { country } => {
                check_country(country)?;
                Ok(Reply::Operators { operators: Operator::all(), currency })
            }
            Ask::Operator { phone, country } => {
                check_country(country)?;
                let operator = Operator::of(without_plus(phone)).ok_or_else(Refusal::no_operator)?;
                Ok(Reply::Operator { operator, currency })
            }
            Ask::Balance => Ok(Reply::Balance(self.float.left())),
            Ask::Status { number } => {
                let topup = self.find(*number).filter(|_topup| !hidden);
                let topup = topup.ok_or_else(Refusal::no_such_transaction)?;
                Ok(Reply::Status(Box::new(topup.statement(self.clock.monotonic()))))
            }
            Ask::Report { filter, page, size } => {
                let listed = if hidden { Vec::new() } else { self.listed(filter) };
                Ok(Reply::Report(self.page(&listed, *page, *size)))
            }
            Ask::Token(Err(refusal)) | Ask::Unreadable(refusal) => Err(refusal.clone()),
            Ask::Buy(_) => Err(Refusal::no_such_path()),
        }
    }

    /// The top-ups that the report contains by now.
    fn listed(&self, filter: &ReportFilter) -> Vec<Arc<Topup>> {
        let names = match &filter.custom_identifier {
            Some(name) => vec![name.clone()],
            None => self.names().values().cloned().collect(),
        };
        let now = self.clock.monotonic();
        let shows = |topup: &Arc<Topup>| {
            let at = topup.at.naive_local();
            now.elapsed_since(topup.made) >= self.report_lag
                && filter.covers(at.with_nanosecond(0).unwrap_or(at))
        };
        names.iter().filter_map(|name| self.memory.find(name)).filter(shows).collect()
    }

    fn page(&self, listed: &[Arc<Topup>], page: usize, size: usize) -> Report {
        let now = self.clock.monotonic();
        let (page, size) = (page.max(1), size.max(1));
        let on_page = listed.iter().skip((page - 1).saturating_mul(size)).take(size);
        let content = on_page.map(|topup| topup.statement(now)).collect();
        Report { content, page, size, total: listed.len() }
    }

    fn find(&self, number: i64) -> Option<Arc<Topup>> {
        let name = self.names().get(&number).cloned()?;
        self.memory.find(&name).filter(|topup| topup.number == number)
    }

    fn prompt(&self, request: &Request, reply: Reply) -> Answer<Message> {
        Answer::prompt(Message { path: request.path.clone(), at: in_gaborone(&*self.clock), reply })
    }

    fn names(&self) -> MutexGuard<'_, BTreeMap<i64, String>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn check_country(country: &str) -> Result<(), Refusal> {
    if country == COUNTRY { Ok(()) } else { Err(Refusal::country_not_supported()) }
}
