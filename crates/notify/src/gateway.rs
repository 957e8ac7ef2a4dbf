//! Who takes a message from us, and what they may say to it.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use purchase::Channel;

use crate::{EmailSettings, Kannel, Letter, NotifySettings, SmsSettings, Smtp};

/// The next hand that a message goes through.
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
    /// It will never be taken.
    #[error("the gateway refuses it: {said}")]
    Refused {
        /// The gateway's code.
        said: String,
    },
    /// It may be taken later, or has been taken unheard.
    #[error("the gateway did not take it now: {said}")]
    Later {
        /// The gateway's code, or what broke.
        said: String,
    },
}

/// The gateways of a process. Messages of a channel without one are left to other processes, and given up when none takes
/// them.
#[derive(Clone, Debug, Default)]
pub struct Gateways {
    /// For text messages.
    pub sms: Option<Arc<dyn Gateway>>,
    /// For e-mail.
    pub email: Option<Arc<dyn Gateway>>,
}

/// Why there is no gateway.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    /// The process has not installed a rustls crypto provider.
    #[error("no TLS provider is installed in this process")]
    NoTlsProvider,
    /// The HTTP client for text messages cannot be built.
    #[error("the HTTP client cannot be built")]
    Http(#[source] reqwest::Error),
    /// A control character, which no field of a head can carry.
    #[error("notify.sms.{setting} has a control character, and cannot be sent to Kannel")]
    Unsendable {
        /// Which setting.
        setting: &'static str,
    },
    /// TLS towards the mail server cannot be set up.
    #[error("the SMTP client cannot be built")]
    Smtp(#[source] lettre::transport::smtp::Error),
}

impl Gateways {
    /// Those that the settings have. Connects to nobody yet.
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
