//! Messages to people: an SMS gateway that is asked as Kannel is, a mail server, and one inbox for both.

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

/// Where messages come in.
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

    /// How the next message to this receiver is taken in; asking uses a script line up.
    fn reception(&self, channel: Channel, receiver: &str) -> Reception {
        let operation = match channel {
            Channel::Sms => Operation::Sms,
            Channel::Email => Operation::Mail,
        };
        let line = self.script.take(operation, || Some(receiver.to_owned()));
        line.map_or(Reception::Taken, |line| Reception::scripted(&line))
    }

    /// Puts a message where the receiver finds it.
    fn keep(&self, channel: Channel, to: &str, subject: Option<String>, text: String) {
        let at = in_gaborone(&*self.clock).to_rfc3339();
        self.inbox.add(Message { channel, to: to.to_owned(), subject, text, at });
    }

    fn knows(&self, username: &str, password: &str) -> bool {
        username == self.username && password == self.password.expose()
    }
}
