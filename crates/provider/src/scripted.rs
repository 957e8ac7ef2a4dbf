//! A provider that does as it is told, for tests of whoever uses the port.
//!
//! It keeps its own vend log, remembers and forgets as its [`Conduct`] says, looks at the gate, and writes
//! down what it was asked.
//!
//! ```
//! use provider::scripted::{NextVend::VendsButReplyIsLost, ScriptedProvider};
//!
//! let utility = ScriptedProvider::default();
//! utility.will([VendsButReplyIsLost]);
//! // … a purchase is made and resolved …
//! # let seen: [&str; 0] = [];
//! utility.saw(seen);
//! ```

mod conduct;
mod desk;
mod latch;

use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use vend::{
    CallId, Customer, Doubt, Enquiry, Product, Quotation, Refusal, RefusalReason, Sale, SubscriberIdentifier,
    Unanswered, Unclear, VendOrder, VendOutcome,
};

use crate::scripted::desk::{Desk, Verdict};
use crate::{Gate, Provider};

pub use conduct::{Conduct, OnRepeat};
pub use latch::Latch;

/// What becomes of the next vend request.
#[derive(Clone, Debug)]
pub enum NextVend {
    /// It is vended and answered. So is every request for which nothing is scripted.
    Vends,
    /// It is vended; the answer never comes.
    VendsButReplyIsLost,
    /// It is vended at once; the answer comes when the test opens the latch.
    VendsAndAnswersOnceOpened(Latch),
    /// The answer never comes, and the request lies in a queue until the test opens the latch; only then
    /// is it vended.
    LiesInAQueueUntilOpened(Latch),
    /// It is refused.
    Refuses(RefusalReason),
    /// It is refused; the answer never comes.
    RefusesButReplyIsLost(RefusalReason),
    /// It left, and was lost on its way.
    NeverArrives,
    /// No connection could be made, so no byte left.
    CannotBeReached,
    /// It is not carried out, and the answer proves nothing.
    AnswersWithDoubt(Doubt),
    /// The same, and these are its words.
    AnswersUnclearly(Unclear),
}

/// What becomes of the next enquiry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextEnquiry {
    /// It is answered from memory. So is every enquiry for which nothing is scripted.
    AnswersTruly,
    /// It is answered so, whatever the memory holds.
    Answers(Box<Enquiry>),
}

/// The double. Clones of the work are not needed: share it in an `Arc`.
#[derive(Debug, Default)]
pub struct ScriptedProvider {
    desk: Mutex<Desk>,
}

impl ScriptedProvider {
    /// A provider of this conduct; the default one rejects repeats and remembers everything.
    pub fn of_conduct(conduct: Conduct) -> Self {
        Self { desk: Mutex::new(Desk::of_conduct(conduct)) }
    }

    /// Scripts the next vends, after those already scripted.
    pub fn will(&self, next: impl IntoIterator<Item = NextVend>) {
        self.desk().next_vends.extend(next);
    }

    /// Scripts the next enquiries, after those already scripted.
    pub fn will_tell(&self, next: impl IntoIterator<Item = NextEnquiry>) {
        self.desk().next_enquiries.extend(next);
    }

    /// Scripts the next answers to questions that move nothing: customer checks, quotes and trials.
    pub fn will_leave_unanswered(&self, next: impl IntoIterator<Item = Unanswered>) {
        self.desk().next_unanswered.extend(next);
    }

    /// Tells it about a customer. One that it was never told about is nameless and may buy anything.
    pub fn knows(&self, subscriber: SubscriberIdentifier, customer: Customer) {
        self.desk().customers.insert(subscriber, customer);
    }

    /// Every vend that it really made, in order.
    pub fn vends(&self) -> Vec<VendOrder> {
        self.desk().vends()
    }

    /// Every call that left for it, in order, such as `vend #1`, `enquire #1`, `check`. Orders are
    /// numbered in the order in which their references first left.
    pub fn calls(&self) -> Vec<String> {
        self.desk().calls.clone()
    }

    /// Asserts that these calls left for it, and no others.
    #[track_caller]
    pub fn saw<'a>(&self, calls: impl IntoIterator<Item = &'a str>) {
        let expected: Vec<&str> = calls.into_iter().collect();
        assert_eq!(self.calls(), expected, "the calls that left for the provider");
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Provider for ScriptedProvider {
    async fn check(
        &self,
        _call: CallId,
        _product: Product,
        subscriber: &SubscriberIdentifier,
    ) -> Result<Customer, Unanswered> {
        let mut desk = self.desk();
        desk.calls.push("check".to_owned());
        match desk.next_unanswered.pop_front() {
            Some(unanswered) => Err(unanswered),
            None => Ok(desk.customer(subscriber)),
        }
    }

    async fn quote(&self, _call: CallId, sale: &Sale) -> Result<Quotation, Unanswered> {
        let mut desk = self.desk();
        desk.calls.push("quote".to_owned());
        match desk.next_unanswered.pop_front() {
            Some(unanswered) => Err(unanswered),
            None => Ok(desk.quotation(sale)),
        }
    }

    async fn trial(&self, _call: CallId, sale: &Sale) -> Result<Quotation, Unanswered> {
        let mut desk = self.desk();
        desk.calls.push("trial".to_owned());
        match desk.next_unanswered.pop_front() {
            Some(unanswered) => Err(unanswered),
            None => Ok(desk.quotation(sale)),
        }
    }

    async fn vend(&self, order: &VendOrder, gate: &Gate) -> VendOutcome {
        let never_sent = VendOutcome::Refused(Refusal::because(RefusalReason::NeverSent));
        if !gate.is_open() {
            return never_sent;
        }
        let next = self.desk().next_vends.pop_front().unwrap_or(NextVend::Vends);
        if matches!(next, NextVend::CannotBeReached) {
            return never_sent;
        }
        self.desk().note("vend", order);
        match next {
            NextVend::Vends => self.desk().take(order, Verdict::Vend),
            NextVend::VendsButReplyIsLost => {
                self.desk().take(order, Verdict::Vend);
                VendOutcome::Unknown(Doubt::TimedOut.into())
            }
            NextVend::VendsAndAnswersOnceOpened(latch) => {
                let outcome = self.desk().take(order, Verdict::Vend);
                latch.opened().await;
                outcome
            }
            NextVend::LiesInAQueueUntilOpened(latch) => {
                self.desk().queue.push((latch, order.clone()));
                VendOutcome::Unknown(Doubt::TimedOut.into())
            }
            NextVend::Refuses(reason) => self.desk().take(order, Verdict::Refuse(reason)),
            NextVend::RefusesButReplyIsLost(reason) => {
                self.desk().take(order, Verdict::Refuse(reason));
                VendOutcome::Unknown(Doubt::TimedOut.into())
            }
            NextVend::NeverArrives => VendOutcome::Unknown(Doubt::ConnectionLost.into()),
            NextVend::CannotBeReached => never_sent,
            NextVend::AnswersWithDoubt(doubt) => VendOutcome::Unknown(doubt.into()),
            NextVend::AnswersUnclearly(unclear) => VendOutcome::Unknown(unclear),
        }
    }

    async fn enquire(&self, _call: CallId, order: &VendOrder) -> Enquiry {
        let mut desk = self.desk();
        desk.note("enquire", order);
        match desk.next_enquiries.pop_front().unwrap_or(NextEnquiry::AnswersTruly) {
            NextEnquiry::AnswersTruly => desk.recall(order),
            NextEnquiry::Answers(enquiry) => *enquiry,
        }
    }
}
