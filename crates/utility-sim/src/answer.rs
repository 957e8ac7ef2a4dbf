//! An answer and the manner in which it is sent, or not, whatever protocol it is written in.

use std::{sync::Arc, time::Duration};

use crate::script::{Misbehaviour, Mishap};

/// What the client will see.
#[derive(Clone, Debug)]
pub(crate) enum Answer<M> {
    /// The connection is cut.
    Silence,
    /// A message.
    Reply(Response<M>),
    /// Half a message, then the connection is cut.
    Torn(Arc<M>),
    /// Bytes that mean nothing.
    Garbage,
    /// More bytes than anyone should read.
    Oversized,
    /// HTTP 500 and a page for people.
    ServerError,
}

/// A message and when it is sent.
#[derive(Clone, Debug)]
pub(crate) struct Response<M> {
    pub(crate) message: Arc<M>,
    pub(crate) after: Duration,
    /// How long to wait for another response to change places with.
    pub(crate) swap: Option<Duration>,
}

/// A message that can be made untrue, or written oddly.
pub(crate) trait Falsify: Clone {
    /// Does to the message what the mishap says; nothing, if it says nothing of messages of this kind.
    fn falsify(&mut self, mishap: Mishap);
}

impl<M> Answer<M> {
    /// The message, at once.
    pub(crate) fn prompt(message: impl Into<Arc<M>>) -> Self {
        Self::Reply(Response { message: message.into(), after: Duration::ZERO, swap: None })
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
}

impl<M: Falsify> Answer<M> {
    /// The same with something wrong about it, as a script has it.
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
            // These were dealt with before there was an answer.
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
