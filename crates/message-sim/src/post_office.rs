//! The office that both channels share: who may send, how a message is received, and where it is stored.

use std::fmt;

use chrono::FixedOffset;
use clock::SharedClock;
use secrecy::{ExposeSecret, SecretString};

use crate::{
    inbox::{Channel, Inbox, Message},
    reception::{NextReception, Reception},
};

/// The user of the SMS gateway, and of the mail server if a client authenticates.
#[derive(Debug)]
pub struct Credentials {
    /// The name of the user.
    pub username: String,
    /// The user's password.
    pub password: SecretString,
}

/// Receives the messages of both channels.
pub struct PostOffice {
    /// All messages that were received.
    pub inbox: Inbox,
    credentials: Credentials,
    clock: SharedClock,
    zone: FixedOffset,
    next_reception: NextReception,
}

impl PostOffice {
    /// A post office with an empty inbox. The times of the messages are those of `clock`, written in `zone`.
    pub fn open(
        credentials: Credentials,
        clock: SharedClock,
        zone: FixedOffset,
        next_reception: NextReception,
    ) -> Self {
        Self { inbox: Inbox::default(), credentials, clock, zone, next_reception }
    }

    /// The reception of the next message to this receiver.
    pub(crate) fn reception(&self, channel: Channel, receiver: &str) -> Reception {
        (self.next_reception)(channel, receiver)
    }

    /// Stores a message in the inbox.
    pub(crate) fn store(&self, channel: Channel, to: &str, subject: Option<String>, text: String) {
        let at = self.clock.now().with_timezone(&self.zone).to_rfc3339();
        self.inbox.add(Message { channel, to: to.to_owned(), subject, text, at });
    }

    pub(crate) fn knows(&self, username: &str, password: &str) -> bool {
        username == self.credentials.username && password == self.credentials.password.expose_secret()
    }
}

impl fmt::Debug for PostOffice {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("PostOffice")
            .field("inbox", &self.inbox)
            .field("credentials", &self.credentials)
            .finish_non_exhaustive()
    }
}
