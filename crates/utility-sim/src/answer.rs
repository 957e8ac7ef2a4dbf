//! An answer, in any protocol, and how it is delivered or withheld.

use std::{sync::Arc, time::Duration};

use crate::script::{Misbehaviour, Mishap};

/// What the client receives.
#[derive(Clone, Debug)]
pub(crate) enum Answer<M> {
    /// The connection is cut.
    Silence,
    /// A message.
    Reply(Response<M>),
    /// Half a message, then the connection is cut.
    Torn(Arc<M>),
    /// Bytes that are not a message.
    Garbage,
    /// A body that is far too large.
    Oversized,
    /// HTTP 500 with an HTML page.
    ServerError,
}

/// A message and the time at which it is sent.
#[derive(Clone, Debug)]
pub(crate) struct Response<M> {
    pub(crate) message: Arc<M>,
    pub(crate) after: Duration,
    /// How long to wait for another response to swap with.
    pub(crate) swap: Option<Duration>,
}

/// A message that can be falsified, or written in an unusual form.
pub(crate) trait Falsify: Clone {
    /// Applies the fault to the message. Does nothing if the fault does not apply to messages of this kind.
    fn falsify(&mut self, mishap: Mishap);
}

impl<M> Answer<M> {
    /// The message, at once.
    pub(crate) fn prompt(message: impl Into<Arc<M>>) -> Self {
        Self::Reply(Response { message: message.into(), after: Duration::ZERO, swap: None })
    }

    /// The same answer, sent after a delay.
    pub(crate) fn after(self, delay: Duration) -> Self {
        match self {
            Self::Reply(response) => Self::Reply(Response { after: delay, ..response }),
            other @ (Self::Silence | Self::Torn(_) | Self::Garbage | Self::Oversized | Self::ServerError) => {
                other
            }
        }
    }
}

impl<M: Falsify> Answer<M> {
    /// The same answer with the scripted fault.
    pub(crate) fn spoiled_by(self, misbehaviour: &Misbehaviour) -> Self {
        let Self::Reply(response) = self else { return self };
        match misbehaviour.fault {
            Mishap::Delay => Self::Reply(response).after(misbehaviour.delay()),
            Mishap::Swapped => Self::Reply(Response { swap: Some(misbehaviour.delay()), ..response }),
            Mishap::DropAfter => Self::Silence,
            Mishap::Garbage => Self::Garbage,
            Mishap::Oversized => Self::Oversized,
            Mishap::Http500After => Self::ServerError,
            Mishap::Truncated => Self::Torn(response.message),
            Mishap::SystemExAfter
            | Mishap::WrongMeter
            | Mishap::WrongAmount
            | Mishap::WrongCurrency
            | Mishap::WrongReference
            | Mishap::NoToken
            | Mishap::OutOfOrder
            | Mishap::OddDescriptions
            | Mishap::UnprefixedFault
            | Mishap::FaultWithoutDetail => {
                let mut message = M::clone(&response.message);
                message.falsify(misbehaviour.fault);
                Self::Reply(Response { message: Arc::new(message), ..response })
            }
            // These faults were handled before there was an answer.
            Mishap::DelayBefore
            | Mishap::DropBefore
            | Mishap::Busy
            | Mishap::Refuse
            | Mishap::MissingThenPresent
            | Mishap::Processing
            | Mishap::ProcessingThenFailed
            | Mishap::ProcessingThenRefunded => Self::Reply(response),
        }
    }
}
