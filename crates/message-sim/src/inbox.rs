//! All received messages, in order.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;

/// The channel of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// An SMS.
    Sms,
    /// An e-mail.
    Email,
}

/// A message as its receiver reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Message {
    /// How it was sent.
    pub channel: Channel,
    /// A telephone number as it was given, or an e-mail address.
    pub to: String,
    /// The subject of an e-mail, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The text that the receiver sees.
    pub text: String,
    /// When it was received, RFC 3339.
    pub at: String,
}

/// The received messages of both channels. Nothing deletes them.
#[derive(Debug, Default)]
pub struct Inbox(Mutex<Vec<Message>>);

impl Inbox {
    pub(crate) fn add(&self, message: Message) {
        self.messages().push(message);
    }

    /// All messages, or one receiver's, in the order of their arrival.
    pub fn read(&self, to: Option<&str>) -> Vec<Message> {
        let messages = self.messages();
        messages.iter().filter(|message| to.is_none_or(|to| message.to == to)).cloned().collect()
    }

    fn messages(&self) -> MutexGuard<'_, Vec<Message>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
