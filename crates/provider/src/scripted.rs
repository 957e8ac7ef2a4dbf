//! A scripted provider, for tests of code that calls a provider.
//!
//! It keeps its own vend log and the list of its calls. It remembers vends and refusals as its [`Conduct`] says. It
//! checks the gate.
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
mod latch;
mod state;

use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use money::Money;
use vend::{
    CallId, Customer, Doubt, Enquiry, Product, Quotation, Refusal, RefusalReason, Sale, SubscriberIdentifier,
    Unanswered, Unclear, VendOrder, VendOutcome,
};

use crate::scripted::state::{ProviderState, Verdict};
use crate::{Gate, Provider};

pub use conduct::{Conduct, OnRepeat};
pub use latch::Latch;

/// What happens to the next vend request.
#[derive(Clone, Debug)]
pub enum NextVend {
    /// It is vended and answered. This is the default for a request that is not scripted.
    Vends,
    /// It is vended, and the answer never comes.
    VendsButReplyIsLost,
    /// It is vended at once, and the answer comes when the test opens the latch.
    VendsAndAnswersOnceOpened(Latch),
    /// The answer never comes, and the request waits in a queue. It is vended after the test has opened the latch.
    LiesInAQueueUntilOpened(Latch),
    /// It is refused.
    Refuses(RefusalReason),
    /// It is refused, and the answer never comes.
    RefusesButReplyIsLost(RefusalReason),
    /// It is sent, and is lost in the network.
    NeverArrives,
    /// No connection can be made, so no byte is sent.
    CannotBeReached,
    /// It is not vended, and the answer proves nothing.
    AnswersWithDoubt(Doubt),
    /// As [`AnswersWithDoubt`](Self::AnswersWithDoubt), with this raw reply.
    AnswersUnclearly(Unclear),
}

/// What happens to the next enquiry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextEnquiry {
    /// It is answered from the provider's records. This is the default for an enquiry that is not scripted.
    AnswersTruly,
    /// It gets this answer, independent of the records.
    Answers(Box<Enquiry>),
}

/// The test double. It is not `Clone`: share it in an `Arc`.
#[derive(Debug, Default)]
pub struct ScriptedProvider {
    state: Mutex<ProviderState>,
}

impl ScriptedProvider {
    /// A provider with this conduct. The default provider rejects repeats and remembers everything.
    pub fn of_conduct(conduct: Conduct) -> Self {
        Self { state: Mutex::new(ProviderState::of_conduct(conduct)) }
    }

    /// Scripts the next vends. They follow those that are already scripted.
    pub fn will(&self, next: impl IntoIterator<Item = NextVend>) {
        self.state().next_vends.extend(next);
    }

    /// Scripts the next enquiries. They follow those that are already scripted.
    pub fn will_tell(&self, next: impl IntoIterator<Item = NextEnquiry>) {
        self.state().next_enquiries.extend(next);
    }

    /// Scripts failures of the next questions that move no money: customer checks, quotes and trials.
    pub fn will_leave_unanswered(&self, next: impl IntoIterator<Item = Unanswered>) {
        self.state().next_unanswered.extend(next);
    }

    /// Adds a customer. An unknown customer has no name and may buy any amount.
    pub fn knows(&self, subscriber: SubscriberIdentifier, customer: Customer) {
        self.state().customers.insert(subscriber, customer);
    }

    /// Sets our float, which it tells from now on. Without one, it does not tell.
    pub fn has_float(&self, left: Money) {
        self.state().float = Some(left);
    }

    /// Sets our float, which the next answer to a vend mentions.
    pub fn mentions_float(&self, left: Money) {
        self.state().mentioned_float = Some(left);
    }

    /// Every vend that was made, in order.
    pub fn vends(&self) -> Vec<VendOrder> {
        self.state().vends()
    }

    /// Every call that was sent, in order, such as `vend #1`, `enquire #1`, `check`. Orders are numbered by the first
    /// use of their reference.
    pub fn calls(&self) -> Vec<String> {
        self.state().calls.clone()
    }

    /// Asserts that exactly these calls were sent.
    #[track_caller]
    pub fn saw<'a>(&self, calls: impl IntoIterator<Item = &'a str>) {
        let expected: Vec<&str> = calls.into_iter().collect();
        assert_eq!(self.calls(), expected, "the calls that were sent to the provider");
    }

    fn state(&self) -> MutexGuard<'_, ProviderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
        let mut state = self.state();
        state.calls.push("check".to_owned());
        match state.next_unanswered.pop_front() {
            Some(unanswered) => Err(unanswered),
            None => Ok(state.customer(subscriber)),
        }
    }

    async fn quote(&self, _call: CallId, sale: &Sale) -> Result<Quotation, Unanswered> {
        let mut state = self.state();
        state.calls.push("quote".to_owned());
        match state.next_unanswered.pop_front() {
            Some(unanswered) => Err(unanswered),
            None => Ok(state.quotation(sale)),
        }
    }

    async fn trial(&self, _call: CallId, sale: &Sale) -> Result<Quotation, Unanswered> {
        let mut state = self.state();
        state.calls.push("trial".to_owned());
        match state.next_unanswered.pop_front() {
            Some(unanswered) => Err(unanswered),
            None => Ok(state.quotation(sale)),
        }
    }

    async fn vend(&self, order: &VendOrder, gate: &Gate) -> VendOutcome {
        let never_sent = VendOutcome::Refused(Refusal::because(RefusalReason::NeverSent));
        if !gate.is_open() {
            return never_sent;
        }
        let next = self.state().next_vends.pop_front().unwrap_or(NextVend::Vends);
        if matches!(next, NextVend::CannotBeReached) {
            return never_sent;
        }
        self.state().note("vend", order);
        match next {
            NextVend::Vends => self.state().take(order, Verdict::Vend),
            NextVend::VendsButReplyIsLost => {
                self.state().take(order, Verdict::Vend);
                VendOutcome::Unknown(Doubt::TimedOut.into())
            }
            NextVend::VendsAndAnswersOnceOpened(latch) => {
                let outcome = self.state().take(order, Verdict::Vend);
                latch.opened().await;
                outcome
            }
            NextVend::LiesInAQueueUntilOpened(latch) => {
                self.state().queue.push((latch, order.clone()));
                VendOutcome::Unknown(Doubt::TimedOut.into())
            }
            NextVend::Refuses(reason) => self.state().take(order, Verdict::Refuse(reason)),
            NextVend::RefusesButReplyIsLost(reason) => {
                self.state().take(order, Verdict::Refuse(reason));
                VendOutcome::Unknown(Doubt::TimedOut.into())
            }
            NextVend::NeverArrives => VendOutcome::Unknown(Doubt::ConnectionLost.into()),
            NextVend::CannotBeReached => never_sent,
            NextVend::AnswersWithDoubt(doubt) => VendOutcome::Unknown(doubt.into()),
            NextVend::AnswersUnclearly(unclear) => VendOutcome::Unknown(unclear),
        }
    }

    async fn float(&self, _call: CallId) -> Result<Option<Money>, Unanswered> {
        let mut state = self.state();
        state.calls.push("float".to_owned());
        match state.next_unanswered.pop_front() {
            Some(unanswered) => Err(unanswered),
            None => Ok(state.float),
        }
    }

    fn mentioned_float(&self) -> Option<Money> {
        self.state().mentioned_float.take()
    }

    async fn enquire(&self, _call: CallId, order: &VendOrder) -> Enquiry {
        let mut state = self.state();
        state.note("enquire", order);
        match state.next_enquiries.pop_front().unwrap_or(NextEnquiry::AnswersTruly) {
            NextEnquiry::AnswersTruly => state.recall(order),
            NextEnquiry::Answers(enquiry) => *enquiry,
        }
    }
}
