//! Fault injection: the faults of the next replies.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde::Deserialize;

use crate::{refusal::Refusal, reloadly, vtpass};

/// A fault of one reply.
///
/// "After" means: after the vend was made, logged and remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mishap {
    /// Answers late, after.
    Delay,
    /// Processes the request late, even if the client has disconnected.
    DelayBefore,
    /// Cuts the connection, before.
    DropBefore,
    /// Cuts the connection, after.
    DropAfter,
    /// Answers with something that is neither XML nor JSON, after.
    Garbage,
    /// Answers HTTP 500 with an HTML page, after.
    #[serde(rename = "http_500_after")]
    Http500After,
    /// Answers with a `SystemEx`, or HTTP 500 and an error, after.
    SystemExAfter,
    /// Announces the whole answer, sends half of it and cuts the connection, after.
    Truncated,
    /// Answers with ten megabytes, after.
    Oversized,
    /// Answers about another subscriber, after.
    WrongMeter,
    /// Answers about another amount, after.
    WrongAmount,
    /// Answers in another currency, after.
    WrongCurrency,
    /// Answers under another message id or custom identifier, after.
    WrongReference,
    /// Omits the credit token, after.
    NoToken,
    /// Waits for another swapped vend, and sends to each client the other's answer, after.
    Swapped,
    /// Writes the elements in another order, after.
    OutOfOrder,
    /// Describes tokens with characters that are separators in other formats, after.
    OddDescriptions,
    /// Refuses with a fault in no namespace: the meter's own refusal, or busy.
    UnprefixedFault,
    /// Refuses with a fault without detail: the meter's own refusal, or busy.
    FaultWithoutDetail,
    /// Refuses as busy.
    Busy,
    /// Refuses with the exception and the text of the script.
    Refuse,
    /// Denies a transaction that exists. For enquiries.
    MissingThenPresent,
    /// Accepts a top-up, processes it for a while, and succeeds.
    Processing,
    /// Accepts a top-up, processes it for a while, and fails.
    ProcessingThenFailed,
    /// Accepts a top-up, processes it for a while, and refunds it.
    ProcessingThenRefunded,
}

/// The operations that a script can distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// `creditVendReq`; `POST /topups`.
    Vend,
    /// `confirmCustomerReq`; the operator of a number.
    Check,
    /// `trialCreditVendReq`.
    Quote,
    /// `adviceReq`; the status of a top-up, the report.
    Enquiry,
    /// `POST /oauth/token`.
    Token,
    /// `/cgi-bin/sendsms`.
    Sms,
    /// A mail over SMTP.
    Mail,
    /// Any request to a provider: all operations but the messages.
    Any,
}

/// One line of a script: a fault of the next replies.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Misbehaviour {
    pub(crate) fault: Mishap,
    /// Only for this subscriber. The subscriber of an enquiry is that of the enquired vend.
    subscriber: Option<String>,
    /// Only for this operation. The default is vends, or enquiries for `missing_then_present`.
    operation: Option<Operation>,
    /// The number of replies.
    #[serde(default = "once")]
    times: u32,
    delay_ms: Option<u64>,
    /// The type of the fault, or the code of the error, of the refusal.
    exception: Option<String>,
    /// The text of that fault.
    text: Option<String>,
}

fn once() -> u32 {
    1
}

/// The default delay, in milliseconds.
const DELAY_MS: u64 = 1_000;

impl Misbehaviour {
    /// This fault in the next reply to a vend, or to an enquiry for [`Mishap::MissingThenPresent`].
    pub const fn new(fault: Mishap) -> Self {
        Self {
            fault,
            subscriber: None,
            operation: None,
            times: 1,
            delay_ms: None,
            exception: None,
            text: None,
        }
    }

    /// Only for this subscriber: a meter, a telephone, or the receiver of a message.
    #[must_use]
    pub fn for_subscriber(self, subscriber: impl Into<String>) -> Self {
        Self { subscriber: Some(subscriber.into()), ..self }
    }

    /// In replies to this operation.
    #[must_use]
    pub fn in_reply_to(self, operation: Operation) -> Self {
        Self { operation: Some(operation), ..self }
    }

    /// In this many replies.
    #[must_use]
    pub fn times(self, times: u32) -> Self {
        Self { times, ..self }
    }

    /// With this delay, for the faults that have one. It is a second unless set.
    #[must_use]
    pub fn after(self, delay: Duration) -> Self {
        Self { delay_ms: Some(u64::try_from(delay.as_millis()).unwrap_or(u64::MAX)), ..self }
    }

    /// With this exception of XMLVend or this code of an aggregator, and this text, for [`Mishap::Refuse`].
    #[must_use]
    pub fn saying(self, exception: impl Into<String>, text: impl Into<String>) -> Self {
        Self { exception: Some(exception.into()), text: Some(text.into()), ..self }
    }

    pub(crate) fn delay(&self) -> Duration {
        Duration::from_millis(self.delay_ms.unwrap_or(DELAY_MS))
    }

    /// The exception of the script line.
    pub(crate) fn exception(&self) -> Option<&str> {
        self.exception.as_deref()
    }

    /// The refusal that the fault causes, unless the utility refuses anyway.
    pub(crate) fn refusal(&self) -> Option<Refusal> {
        match self.fault {
            Mishap::Busy | Mishap::UnprefixedFault | Mishap::FaultWithoutDetail => Some(Refusal::busy()),
            Mishap::Refuse => Some(Refusal::scripted(self.exception.as_deref(), self.text.as_deref())),
            Mishap::Delay
            | Mishap::DelayBefore
            | Mishap::DropBefore
            | Mishap::DropAfter
            | Mishap::Garbage
            | Mishap::Http500After
            | Mishap::SystemExAfter
            | Mishap::Truncated
            | Mishap::Oversized
            | Mishap::WrongMeter
            | Mishap::WrongAmount
            | Mishap::WrongCurrency
            | Mishap::WrongReference
            | Mishap::NoToken
            | Mishap::Swapped
            | Mishap::OutOfOrder
            | Mishap::OddDescriptions
            | Mishap::MissingThenPresent
            | Mishap::Processing
            | Mishap::ProcessingThenFailed
            | Mishap::ProcessingThenRefunded => None,
        }
    }

    /// The same for the airtime aggregator, with its codes.
    pub(crate) fn airtime_refusal(&self) -> Option<reloadly::Refusal> {
        self.refusal().map(|_in_words_of_xmlvend| {
            if self.fault == Mishap::Refuse {
                reloadly::Refusal::scripted(self.exception.as_deref(), self.text.as_deref())
            } else {
                reloadly::Refusal::busy()
            }
        })
    }

    /// The same for the aggregator of electricity, with its codes.
    pub(crate) fn vtpass_refusal(&self) -> Option<vtpass::Rejection> {
        self.refusal().map(|_in_words_of_xmlvend| {
            if self.fault == Mishap::Refuse || self.fault == Mishap::FaultWithoutDetail {
                vtpass::Rejection::scripted(self.exception.as_deref(), self.text.as_deref())
            } else {
                vtpass::Rejection::unreachable()
            }
        })
    }

    /// The final state of a top-up that is processed for a while.
    pub(crate) fn ending(&self) -> Option<reloadly::Ending> {
        const ENDINGS: [(Mishap, reloadly::Ending); 3] = [
            (Mishap::Processing, reloadly::Ending::Successful),
            (Mishap::ProcessingThenFailed, reloadly::Ending::Failed),
            (Mishap::ProcessingThenRefunded, reloadly::Ending::Refunded),
        ];
        ENDINGS.into_iter().find(|(fault, _)| *fault == self.fault).map(|(_, ending)| ending)
    }

    fn operation(&self) -> Operation {
        let usual =
            if self.fault == Mishap::MissingThenPresent { Operation::Enquiry } else { Operation::Vend };
        self.operation.unwrap_or(usual)
    }

    fn applies_to(&self, operation: Operation, subscriber: Option<&str>) -> bool {
        let wanted = self.operation();
        let right_meter = self.subscriber.is_none() || self.subscriber.as_deref() == subscriber;
        let of_a_seller = !matches!(operation, Operation::Sms | Operation::Mail);
        let right_operation = wanted == operation || wanted == Operation::Any && of_a_seller;
        right_operation && right_meter
    }
}

/// The faults of the next replies, in the order in which they were added.
#[derive(Debug, Default)]
pub(crate) struct Script {
    lines: Mutex<VecDeque<Misbehaviour>>,
}

impl Script {
    pub(crate) fn add(&self, line: Misbehaviour) {
        if line.times > 0 {
            self.lines().push_back(line);
        }
    }

    pub(crate) fn clear(&self) {
        self.lines().clear();
    }

    /// Deletes the lines of one subscriber.
    pub(crate) fn clear_of(&self, subscriber: &str) {
        self.lines().retain(|line| line.subscriber.as_deref() != Some(subscriber));
    }

    /// The fault for this reply, if there is one. Uses it up. The subscriber is looked up only if the script is not
    /// empty.
    pub(crate) fn take(
        &self,
        operation: Operation,
        subscriber: impl FnOnce() -> Option<String>,
    ) -> Option<Misbehaviour> {
        let mut lines = self.lines();
        if lines.is_empty() {
            return None;
        }
        let subscriber = subscriber();
        let index = lines.iter().position(|line| line.applies_to(operation, subscriber.as_deref()))?;
        let line = lines.get_mut(index)?;
        line.times -= 1;
        if line.times == 0 { lines.remove(index) } else { Some(line.clone()) }
    }

    fn lines(&self) -> MutexGuard<'_, VecDeque<Misbehaviour>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
