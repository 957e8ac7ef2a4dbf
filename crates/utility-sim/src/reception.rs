//! The effect of the script on messages to people.

use std::sync::Arc;

use message_sim::{Channel, NextReception, Reception};

use crate::script::{Misbehaviour, Mishap, Operation, Script};

/// The exception of a `refuse` that is permanent.
const FOR_GOOD: &str = "permanent";

/// The reception of each message, as the script says. Uses up a script line for each.
pub(crate) fn scripted(script: Arc<Script>) -> NextReception {
    Arc::new(move |channel: Channel, receiver: &str| {
        let operation = match channel {
            Channel::Sms => Operation::Sms,
            Channel::Email => Operation::Mail,
        };
        let line = script.take(operation, || Some(receiver.to_owned()));
        line.map_or(Reception::Taken, |line| reception(&line))
    })
}

fn reception(line: &Misbehaviour) -> Reception {
    match line.fault {
        Mishap::Delay | Mishap::DelayBefore => Reception::TakenLate(line.delay()),
        Mishap::DropAfter => Reception::TakenUnsaid,
        Mishap::DropBefore => Reception::Unheard,
        Mishap::Refuse if line.exception() == Some(FOR_GOOD) => Reception::RefusedForGood,
        Mishap::Refuse | Mishap::Busy => Reception::RefusedForNow,
        Mishap::Garbage
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
        | Mishap::UnprefixedFault
        | Mishap::FaultWithoutDetail
        | Mishap::MissingThenPresent
        | Mishap::Processing
        | Mishap::ProcessingThenFailed
        | Mishap::ProcessingThenRefunded => Reception::Taken,
    }
}
