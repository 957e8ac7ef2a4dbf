//! Misbehaviour on demand: what the next replies are to do wrong.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde::Deserialize;

use crate::{refusal::Refusal, reloadly};

/// What can go wrong with one reply.
///
/// "After" means that the vend was made, logged and remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Mishap {
    /// Answers late, after.
    Delay,
    /// Looks at the request late, whether its sender still waits or not.
    DelayBefore,
    /// Cuts the connection, before.
    DropBefore,
    /// Cuts the connection, after.
    DropAfter,
    /// Answers with something that is neither XML nor JSON, after.
    Garbage,
    /// Answers HTTP 500 with a page for people, after.
    #[serde(rename = "http_500_after")]
    Http500After,
    /// Answers with a `SystemEx`, or HTTP 500 and an error, after.
    SystemExAfter,
    /// Promises the whole answer, sends half of it and cuts the connection, after.
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
    /// Leaves the credit token out, after.
    NoToken,
    /// Waits for another vend that is to be swapped, and sends each the other's answer, after.
    Swapped,
    /// Writes elements in another order, after.
    OutOfOrder,
    /// Describes tokens with the characters that separate them in other formats, after.
    OddDescriptions,
    /// Refuses with a fault in no namespace: the meter's own refusal, or that it is busy.
    UnprefixedFault,
    /// Refuses with a fault without detail: the meter's own refusal, or that it is busy.
    FaultWithoutDetail,
    /// Refuses: too busy.
    Busy,
    /// Refuses with the exception and the text that the script gives.
    Refuse,
    /// Says of a transaction that there is none, although there is. For enquiries.
    MissingThenPresent,
    /// Takes a top-up, is still processing it for a while, and succeeds.
    Processing,
    /// Takes a top-up, is still processing it for a while, and fails.
    ProcessingThenFailed,
    /// Takes a top-up, is still processing it for a while, and gives the money back.
    ProcessingThenRefunded,
}

/// The operations that a script can tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Operation {
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
    /// Whatever comes to one who sells.
    Any,
}

/// One line of a script.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Misbehaviour {
    pub(crate) fault: Mishap,
    /// For this subscriber only. An enquiry is for the subscriber of the vend that it asks about.
    subscriber: Option<String>,
    /// For this operation only: vends, if not given; enquiries, for `missing_then_present`.
    operation: Option<Operation>,
    /// For so many replies.
    #[serde(default = "once")]
    times: u32,
    delay_ms: Option<u64>,
    /// The type of the fault, or the code of the error, to refuse with.
    exception: Option<String>,
    /// What that fault is to say.
    text: Option<String>,
}

fn once() -> u32 {
    1
}

/// How long a delay lasts that does not say.
const DELAY_MS: u64 = 1_000;

impl Misbehaviour {
    pub(crate) fn delay(&self) -> Duration {
        Duration::from_millis(self.delay_ms.unwrap_or(DELAY_MS))
    }

    /// The kind of refusal that was asked for.
    pub(crate) fn exception(&self) -> Option<&str> {
        self.exception.as_deref()
    }

    /// What the utility is made to refuse with, unless it refuses anyway.
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

    /// The same for the airtime aggregator, in its words.
    pub(crate) fn airtime_refusal(&self) -> Option<reloadly::Refusal> {
        self.refusal().map(|_in_words_of_xmlvend| {
            if self.fault == Mishap::Refuse {
                reloadly::Refusal::scripted(self.exception.as_deref(), self.text.as_deref())
            } else {
                reloadly::Refusal::busy()
            }
        })
    }

    /// What becomes of a top-up that the aggregator is made to process for a while.
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

/// What the next replies are to do wrong, in the order in which it was asked for.
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

    /// The misbehaviour for this reply, if one is due; it is used up by this. The subscriber is looked up only if
    /// there is any script at all.
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
