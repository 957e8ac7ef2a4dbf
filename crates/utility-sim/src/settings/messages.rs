//! Who may send messages, and where mail is brought.

use std::net::SocketAddr;

use serde::Deserialize;

use super::Password;

/// Everything about messages that can be set.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MessageSettings {
    /// The user whom the SMS gateway knows, and the mail server if it is told one.
    pub username: String,
    /// The password that goes with it.
    pub password: Password,
    /// Where mail is brought over SMTP; port 0 takes a free one.
    pub smtp_listen: SocketAddr,
}

impl Default for MessageSettings {
    fn default() -> Self {
        Self {
            username: "vendgate-messages".to_owned(),
            password: Password::from("sandbox-messages-secret"),
            smtp_listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        }
    }
}
