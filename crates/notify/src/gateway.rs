//! The gateways that accept messages, and the errors that they return.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use purchase::Channel;

use crate::{EmailSettings, Kannel, Letter, NotifySettings, SmsSettings, Smtp};

/// The next system on the way of a message.
#[async_trait]
pub trait Gateway: fmt::Debug + Send + Sync {
    /// Hands a message over, once.
    ///
    /// # Errors
    /// [`Undelivered`], which carries no number, address or text.
    async fn send(&self, letter: &Letter) -> Result<(), Undelivered>;
}

/// Why a message was not handed over, or may not have been.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Undelivered {
    /// The gateway will never accept it.
    #[error("the gateway refuses it: {said}")]
    Refused {
        /// The gateway's code.
        said: String,
    },
    /// The gateway may accept it later, or has accepted it without a confirmation that arrived.
    #[error("the gateway did not accept it now: {said}")]
    Later {
        /// The gateway's code, or what failed.
        said: String,
    },
}

/// The gateways of a process. Messages of a channel without a gateway are left to other processes. They are given up
/// when no process sends them.
#[derive(Clone, Debug, Default)]
pub struct Gateways {
    /// For text messages.
    pub sms: Option<Arc<dyn Gateway>>,
    /// For e-mail.
    pub email: Option<Arc<dyn Gateway>>,
}

/// Why a gateway cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    /// The process has not installed a rustls crypto provider.
    #[error("no TLS provider is installed in this process")]
    NoTlsProvider,
    /// The HTTP client for text messages cannot be built.
    #[error("the HTTP client cannot be built")]
    Http(#[source] reqwest::Error),
    /// A setting contains a control character, which a header field cannot carry.
    #[error("notify.sms.{setting} has a control character, and cannot be sent to Kannel")]
    Unsendable {
        /// The name of the setting.
        setting: &'static str,
    },
    /// TLS towards the mail server cannot be set up.
    #[error("the SMTP client cannot be built")]
    Smtp(#[source] lettre::transport::smtp::Error),
}

impl Gateways {
    /// The gateways of the settings. Opens no connection yet.
    pub fn new(settings: &NotifySettings) -> Result<Self, GatewayError> {
        let sms = |settings: &SmsSettings| Kannel::new(settings).map(shared);
        let email = |settings: &EmailSettings| Smtp::new(settings).map(shared);
        Ok(Self {
            sms: settings.sms.as_ref().map(sms).transpose()?,
            email: settings.email.as_ref().map(email).transpose()?,
        })
    }

    pub(crate) const fn of(&self, channel: Channel) -> Option<&Arc<dyn Gateway>> {
        match channel {
            Channel::Sms => self.sms.as_ref(),
            Channel::Email => self.email.as_ref(),
        }
    }
}

fn shared(gateway: impl Gateway + 'static) -> Arc<dyn Gateway> {
    Arc::new(gateway)
}
