//! The credentials for sending messages, and the address of the mail server.

use std::net::SocketAddr;

use message_sim::Credentials;
use serde::Deserialize;

use super::Password;

/// All settings of messages.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MessageSettings {
    /// The user of the SMS gateway, and of the mail server if a client authenticates.
    pub username: String,
    /// The user's password.
    pub password: Password,
    /// The SMTP address to listen on. Port 0 takes a free port.
    pub smtp_listen: SocketAddr,
}

impl MessageSettings {
    pub(crate) fn credentials(&self) -> Credentials {
        Credentials { username: self.username.clone(), password: self.password.expose().into() }
    }
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
