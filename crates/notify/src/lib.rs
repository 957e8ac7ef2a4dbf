//! The messages that people receive when a purchase ends. They are claimed from the outbox, composed in the recipient's
//! language and handed to an SMS gateway or a mail server. Sending is repeated until a gateway accepts the message or
//! the message is of no use any more.
//!
//! Delivery is at least once. If a process dies after it handed a message over and before it recorded that, the message
//! is sent again under the same id, by which a repeat can be recognised. No token, number or address is ever logged.
#![warn(missing_docs)]

mod compose;
mod gateway;
mod gsm7;
mod kannel;
mod measures;
mod notifier;
mod plain;
mod settings;
mod sms;
mod smtp;

pub use compose::{Composer, Letter};
pub use gateway::{Gateway, GatewayError, Gateways, Undelivered};
pub use kannel::Kannel;
pub use measures::describe_metrics;
pub use notifier::{Delivered, Notifier};
pub use settings::{EmailSettings, MailSecurity, NotifySettings, NotifySettingsError, SmsSettings};
pub use sms::{Coding, SmsText};
pub use smtp::Smtp;
