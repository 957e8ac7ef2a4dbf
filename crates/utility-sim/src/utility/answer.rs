//! An answer and the manner in which it is sent, or not.

use std::{sync::Arc, time::Duration};

use money::{Currency, Money};
use sts::MeterNumber;

use crate::{
    refusal::Refusal,
    script::{Misbehaviour, Mishap},
    xmlvend::{Message, Receipt, Reply, Style},
};

/// What the client will see.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// The connection is cut.
    Silence,
    /// A message.
    Reply(Response),
    /// Half a message, then the connection is cut.
    Torn(Arc<Message>),
    /// Bytes that mean nothing.
    Garbage,
    /// More bytes than anyone should read.
    Oversized,
    /// HTTP 500 and a page for people.
    ServerError,
}

/// A message, how it is written and when it is sent.
#[derive(Clone, Debug)]
pub(crate) struct Response {
    pub(crate) message: Arc<Message>,
    pub(crate) style: Style,
    pub(crate) after: Duration,
    /// How long to wait for another response to change places with.
    pub(crate) swap: Option<Duration>,
}

impl Answer {
    /// The message, at once.
    pub(crate) fn prompt(message: impl Into<Arc<Message>>) -> Self {
        let (style, after) = (Style::default(), Duration::ZERO);
        Self::Reply(Response { message: message.into(), style, after, swap: None })
    }

    /// The same, later.
    pub(crate) fn after(self, delay: Duration) -> Self {
        match self {
            Self::Reply(response) => Self::Reply(Response { after: delay, ..response }),
            other @ (Self::Silence | Self::Torn(_) | Self::Garbage | Self::Oversized | Self::ServerError) => {
                other
            }
        }
    }

    /// The same with something wrong about it, as a script has it.
    pub(crate) fn spoiled_by(self, misbehaviour: &Misbehaviour) -> Self {
        let Self::Reply(response) = self else { return self };
        let style = response.style;
        let styled = |style, response| Self::Reply(Response { style, ..response });
        match misbehaviour.fault {
            Mishap::Delay => Self::Reply(response).after(misbehaviour.delay()),
            Mishap::Swapped => Self::Reply(Response { swap: Some(misbehaviour.delay()), ..response }),
            Mishap::DropAfter => Self::Silence,
            Mishap::Garbage => Self::Garbage,
            Mishap::Oversized => Self::Oversized,
            Mishap::Http500After => Self::ServerError,
            Mishap::Truncated => Self::Torn(response.message),
            Mishap::OutOfOrder => styled(Style { out_of_order: true, ..style }, response),
            Mishap::UnprefixedFault => styled(Style { unprefixed_fault: true, ..style }, response),
            Mishap::FaultWithoutDetail => styled(Style { fault_without_detail: true, ..style }, response),
            Mishap::SystemExAfter
            | Mishap::WrongMeter
            | Mishap::WrongAmount
            | Mishap::WrongCurrency
            | Mishap::WrongReference
            | Mishap::NoToken => {
                let mut message = Message::clone(&response.message);
                falsify(&mut message, misbehaviour.fault);
                Self::Reply(Response { message: Arc::new(message), ..response })
            }
            // These were dealt with before there was an answer.
            Mishap::DelayBefore
            | Mishap::DropBefore
            | Mishap::Busy
            | Mishap::Refuse
            | Mishap::MissingThenPresent => Self::Reply(response),
        }
    }
}

/// Makes a message untrue. Of an advice, what it repeats is falsified.
fn falsify(message: &mut Message, mishap: Mishap) {
    if let Reply::LastResponse { stored, .. } = &mut message.reply {
        falsify(Arc::make_mut(stored), mishap);
    } else if mishap == Mishap::SystemExAfter {
        message.reply = Reply::Fault(Refusal::system_failure());
    } else if mishap == Mishap::WrongReference {
        let number = &mut message.header.to.msg_id.unique_number;
        *number = *number % 999_999 + 1;
    } else if let Reply::Vend(receipt) | Reply::TrialVend(receipt) = &mut message.reply {
        falsify_receipt(receipt, mishap);
    } else if let (Reply::Customer(customer), Mishap::WrongMeter) = (&mut message.reply, mishap) {
        customer.meter.number = another_meter();
    }
}

fn falsify_receipt(receipt: &mut Receipt, mishap: Mishap) {
    if mishap == Mishap::WrongMeter {
        receipt.issue.meter.number = another_meter();
    } else if mishap == Mishap::NoToken {
        receipt.issue.credit = None;
    } else if mishap == Mishap::WrongAmount {
        receipt.split = receipt.split.map(|line| Money::from_minor(line.minor() + 1, line.currency()));
    } else if mishap == Mishap::WrongCurrency {
        let another = Currency::parse("XTS").expect("XTS is the code for testing");
        receipt.split = receipt.split.map(|line| Money::from_minor(line.minor(), another));
    }
}

fn another_meter() -> MeterNumber {
    MeterNumber::parse("07040904562").expect("the check digit is right")
}
