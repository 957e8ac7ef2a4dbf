//! Messages to people: an SMS gateway with Kannel's interface, a mail server, and one inbox for both.

mod alphabet;
mod inbox;
mod kannel;
mod mail;
mod reception;
mod smtp;

use std::sync::Arc;

use clock::SharedClock;

use crate::{
    local_time::in_gaborone,
    script::{Operation, Script},
    settings::{MessageSettings, Password},
};

pub(crate) use inbox::{Channel, Inbox, Message};
pub(crate) use kannel::Sms;
pub(crate) use reception::Reception;
pub(crate) use smtp::serve;

/// Receives the messages of both channels.
#[derive(Debug)]
pub(crate) struct PostOffice {
    pub(crate) inbox: Inbox,
    script: Arc<Script>,
    username: String,
    password: Password,
    clock: SharedClock,
}

impl PostOffice {
    pub(crate) fn open(settings: &MessageSettings, script: Arc<Script>, clock: SharedClock) -> Self {
        let MessageSettings { username, password, .. } = settings.clone();
        Self { inbox: Inbox::default(), script, username, password, clock }
    }

    /// The reception of the next message to this receiver. Uses up a script line.
    fn reception(&self, channel: Channel, receiver: &str) -> Reception {
        let operation = match channel {
            Channel::Sms => Operation::Sms,
            Channel::Email => Operation::Mail,
        };
        let line = self.script.take(operation, || Some(receiver.to_owned()));
        line.map_or(Reception::Taken, |line| Reception::scripted(&line))
    }

    /// Stores a message in the inbox.
    fn store(&self, channel: Channel, to: &str, subject: Option<String>, text: String) {
        let at = in_gaborone(&*self.clock).to_rfc3339();
        self.inbox.add(Message { channel, to: to.to_owned(), subject, text, at });
    }

    fn knows(&self, username: &str, password: &str) -> bool {
        username == self.username && password == self.password.expose()
    }
}
