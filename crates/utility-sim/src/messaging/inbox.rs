//! All received messages, in order.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;

/// The channel of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Channel {
    Sms,
    Email,
}

/// A message as its receiver reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Message {
    pub(crate) channel: Channel,
    /// A telephone number as it was given, or an e-mail address.
    pub(crate) to: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) subject: Option<String>,
    pub(crate) text: String,
    /// RFC 3339.
    pub(crate) at: String,
}

#[derive(Debug, Default)]
pub(crate) struct Inbox(Mutex<Vec<Message>>);

impl Inbox {
    pub(crate) fn add(&self, message: Message) {
        self.messages().push(message);
    }

    /// All messages, or one receiver's.
    pub(crate) fn read(&self, to: Option<&str>) -> Vec<Message> {
        let messages = self.messages();
        messages.iter().filter(|message| to.is_none_or(|to| message.to == to)).cloned().collect()
    }

    fn messages(&self) -> MutexGuard<'_, Vec<Message>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
