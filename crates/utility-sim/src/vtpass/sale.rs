//! A sale: the reasons to reject or to fail it, the tokens, the money, the record, and the answer.

use std::sync::{Arc, atomic::Ordering};

use clock::Monotonic;
use sts::Rnd;

use super::{
    Agent, Ending, Message, Order, Rejection, Reply,
    agent::{prompt, rejected},
    message::{Course, Transaction},
    past::Kept,
};
use crate::{
    answer::Answer,
    local_time::in_gaborone,
    memory::Recollection,
    meter::Meter,
    product::{Product, Service},
    refusal::Refusal,
    scenario::Scenario,
    script::Misbehaviour,
    settings::OnRepeat,
    tariff::Split,
    utility::{Stage, object},
    vend_log::{VendRecord, VendResult},
};

/// What becomes of an order that is not rejected.
enum Plan<'a> {
    /// It becomes a transaction that fails.
    Fails,
    /// The meter gets what this amount buys.
    Sells(&'a Meter, Split),
}

impl Agent {
    /// Sells, unless the request id was already answered.
    pub(super) fn pay(&self, order: &Order, scripted: Option<&Misbehaviour>) -> Answer<Message> {
        let scenario = self.meters.find(&order.meter).map(Meter::scenario);
        if scenario == Ok(Scenario::LostRequest) {
            return Answer::Silence;
        }
        // A repeated request id is noticed before anything else is examined.
        let is_known = self.memory.find(&order.request_id).is_some();
        let plan = match self.plan(order, scripted) {
            Err(rejection) if !is_known => return rejected(rejection),
            Err(_) => Plan::Fails,
            Ok(plan) => plan,
        };
        match self.memory.vend_once(&order.request_id, || self.sell(order, &plan, scripted)) {
            Recollection::Fresh(_) | Recollection::Known(_) if scenario == Ok(Scenario::Unanswered) => {
                Answer::Silence
            }
            Recollection::Fresh(sold) if sold.course.delivers() && scenario == Ok(Scenario::LostReply) => {
                Answer::Silence
            }
            Recollection::Fresh(sold) if scenario == Ok(Scenario::Delayed) => {
                self.receipt(&sold).after(self.delayed)
            }
            Recollection::Fresh(sold) => self.receipt(&sold),
            Recollection::Known(sold) if self.memory.on_repeat() == OnRepeat::Replay => self.receipt(&sold),
            Recollection::Known(_) | Recollection::Taken => rejected(Rejection::repeated_request_id()),
        }
    }

    fn receipt(&self, sold: &Arc<Transaction>) -> Answer<Message> {
        prompt(Reply::Transaction(Box::new(sold.statement(self.clock.monotonic()))))
    }

    /// Everything that can reject or fail an order.
    fn plan(&self, order: &Order, scripted: Option<&Misbehaviour>) -> Result<Plan<'_>, Rejection> {
        if order.service_id != self.settings.service_id {
            return Err(Rejection::unknown_product());
        }
        if !order.has_a_proper_request_id(self.clock.now(), self.settings.check_date) {
            return Err(Rejection::improper_request_id());
        }
        let Ok(meter) = self.meters.find_for(Service::Electricity, &order.meter) else {
            return Ok(Plan::Fails);
        };
        let limits = self.tariff.limits(meter.scenario());
        if limits.minimum.is_some_and(|minimum| order.amount.minor() < minimum.minor()) {
            return Err(Rejection::below_minimum());
        }
        if limits.maximum.is_some_and(|maximum| order.amount.minor() > maximum.minor()) {
            return Err(Rejection::above_maximum());
        }
        let split = object(Stage::Vend, meter)
            .and_then(|()| self.tariff.split(Service::Electricity, meter.scenario(), order.amount));
        let split = match split {
            Ok(split) => split,
            Err(refusal) => return in_the_vendors_words(&refusal).map_or(Ok(Plan::Fails), Err),
        };
        match scripted.and_then(Misbehaviour::vtpass_refusal) {
            Some(failure) if failure.is_of_a_transaction() => return Ok(Plan::Fails),
            Some(rejection) => return Err(rejection),
            None => {}
        }
        if self.float.left().minor() < order.amount.minor() {
            return Err(Rejection::low_balance());
        }
        Ok(Plan::Sells(meter, split))
    }

    /// The sale itself. It is logged before the answer is sent. If it cannot be logged, it has failed.
    fn sell(&self, order: &Order, plan: &Plan<'_>, scripted: Option<&Misbehaviour>) -> Transaction {
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        let at = in_gaborone(&*self.clock);
        let failed = Transaction {
            number,
            order: order.clone(),
            at,
            course: Course::Failed,
            tokens: Vec::new(),
            tenths: 0,
        };
        let transaction = match plan {
            Plan::Fails => failed.clone(),
            Plan::Sells(meter, split) => {
                self.made(&failed, meter, *split, scripted).unwrap_or_else(|| failed.clone())
            }
        };
        let record = VendRecord {
            reference: order.request_id.clone(),
            transaction: transaction.number.to_string(),
            subscriber: order.meter.clone(),
            product_type: Product::Electricity.as_str().to_owned(),
            amount: order.amount.amount().to_string(),
            currency: order.amount.currency().as_str().to_owned(),
            tokens: transaction.tokens.clone(),
            at: at.to_rfc3339(),
            outcome: if transaction.course.delivers() { VendResult::Vended } else { VendResult::Refused },
        };
        match self.log.append(&record, &Kept::of(&transaction)) {
            Ok(()) => transaction,
            Err(why) => {
                tracing::error!(%why, "the vend log cannot be written");
                failed
            }
        }
    }

    /// The tokens, then the money. `None` if no token can be made or the money is gone.
    fn made(
        &self,
        begun: &Transaction,
        meter: &Meter,
        split: Split,
        scripted: Option<&Misbehaviour>,
    ) -> Option<Transaction> {
        let until = self.clock.monotonic().since_origin();
        let until = until.saturating_add(std::time::Duration::from_millis(self.settings.processing_ms));
        let ending = scripted.and_then(Misbehaviour::ending).map(Ending::from);
        let course = ending
            .map_or(Course::Done, |ending| Course::UnderWay { until: Monotonic::from_origin(until), ending });
        if !course.delivers() {
            return Some(Transaction { course, ..begun.clone() });
        }
        let rnd = Rnd::from_byte(begun.number.to_le_bytes()[0]);
        let issue = meter.issue(split.units, begun.at.naive_local(), rnd).ok()?;
        self.float.take(split.tender)?;
        Some(Transaction {
            course,
            tokens: issue.digits(),
            tenths: split.units.tenths().into(),
            ..begun.clone()
        })
    }
}

/// The rejection for a refusal of the utility, if the vendor has a code for it. Otherwise the transaction fails.
fn in_the_vendors_words(refusal: &Refusal) -> Option<Rejection> {
    if *refusal == Refusal::busy() {
        Some(Rejection::unreachable())
    } else if *refusal == Refusal::duplicate_sale() {
        Some(Rejection::likely_duplicate())
    } else if *refusal == Refusal::credit_exhausted() {
        Some(Rejection::low_balance())
    } else {
        None
    }
}
