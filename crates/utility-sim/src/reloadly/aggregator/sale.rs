//! A sale of airtime: the reasons to refuse it, the money, the record, and the answer.

use std::sync::{Arc, atomic::Ordering};

use clock::Monotonic;
use money::Money;

use super::{Aggregator, past::Kept};
use crate::{
    answer::Answer,
    local_time::in_gaborone,
    memory::Recollection,
    product::Product,
    reloadly::{
        Ending, Message, Refusal, Reply, Request, VendRequest,
        operator::Operator,
        phone::{Behaviour, behaviour},
        topup::{Course, Topup},
    },
    script::Misbehaviour,
    settings::OnRepeat,
    vend_log::{VendRecord, VendResult},
};

impl Aggregator {
    /// Tops up, unless the custom identifier was already answered.
    pub(super) fn buy(
        &self,
        request: &Request,
        order: &VendRequest,
        scripted: Option<&Misbehaviour>,
    ) -> Answer<Message> {
        let recollection = self.memory.vend_once(&order.custom_identifier, || self.sell(order, scripted));
        match recollection {
            Recollection::Fresh(topup) => {
                self.names().insert(topup.number, order.custom_identifier.clone());
                let is_lost = topup.course.delivers() && behaviour(&order.phone) == Behaviour::LostReply;
                if is_lost { Answer::Silence } else { self.prompt(request, self.receipt(&topup)) }
            }
            Recollection::Known(topup) if self.memory.on_repeat() == OnRepeat::Replay => {
                self.prompt(request, self.receipt(&topup))
            }
            Recollection::Known(_) | Recollection::Taken => {
                self.prompt(request, Reply::Refusal(Refusal::repeated_identifier()))
            }
        }
    }

    fn receipt(&self, topup: &Arc<Topup>) -> Reply {
        match &topup.course {
            Course::Refused(refusal) => Reply::Refusal(refusal.clone()),
            Course::Done | Course::UnderWay { .. } => {
                Reply::Topup(Box::new(topup.statement(self.clock.monotonic())))
            }
        }
    }

    /// The sale itself. It is logged before the answer is sent. If it cannot be logged, its outcome is unknown.
    fn sell(&self, order: &VendRequest, scripted: Option<&Misbehaviour>) -> Topup {
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        let (at, made) = (in_gaborone(&*self.clock), self.clock.monotonic());
        let before = self.float.left();
        let (course, balances) = match self.take(order, made, scripted) {
            Ok((course, after)) => (course, after),
            Err(refusal) => (Course::Refused(refusal), [before, before]),
        };
        let currency = order.amount.currency();
        let record = VendRecord {
            reference: order.custom_identifier.clone(),
            transaction: number.to_string(),
            subscriber: order.phone.clone(),
            product_type: Product::Airtime.as_str().to_owned(),
            amount: order.amount.amount().to_string(),
            currency: currency.as_str().to_owned(),
            tokens: Vec::new(),
            at: at.to_rfc3339(),
            outcome: if course.delivers() { VendResult::Vended } else { VendResult::Refused },
        };
        let topup = Topup { number, order: order.clone(), at, made, course, balances };
        match self.log.append(&record, &Kept::of(&topup)) {
            Ok(()) => topup,
            Err(why) => {
                tracing::error!(%why, "the vend log cannot be written");
                Topup { course: Course::Refused(Refusal::system_failure()), ..topup }
            }
        }
    }

    /// Checks everything that can refuse an order, then takes the money. The balances are those before and after.
    fn take(
        &self,
        order: &VendRequest,
        made: Monotonic,
        scripted: Option<&Misbehaviour>,
    ) -> Result<(Course, [Money; 2]), Refusal> {
        let operator = Operator::find(order.operator_id).ok_or_else(Refusal::unknown_operator)?;
        if Operator::of(&order.phone) != Some(operator) {
            return Err(Refusal::invalid_recipient());
        }
        if !Operator::sells(order.amount) {
            return Err(Refusal::amount_out_of_range());
        }
        if let Some(refusal) = scripted.and_then(Misbehaviour::airtime_refusal) {
            return Err(refusal);
        }
        let is_slow = behaviour(&order.phone) == Behaviour::Processing;
        let ending = scripted.and_then(Misbehaviour::ending).or(is_slow.then_some(Ending::Successful));
        let until = Monotonic::from_origin(made.since_origin().saturating_add(self.processing));
        let course = ending.map_or(Course::Done, |ending| Course::UnderWay { until, ending });
        // A failed top-up costs nothing, and a refunded one costs nothing in the end.
        if !course.delivers() {
            return Ok((course, [self.float.left(); 2]));
        }
        let after = self.float.take(order.amount).ok_or_else(Refusal::balance_exhausted)?;
        let before = after.plus(order.amount).expect("the amount was just taken from there");
        Ok((course, [before, after]))
    }
}
