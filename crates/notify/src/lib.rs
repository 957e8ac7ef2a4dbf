//! The messages that people get when a purchase ends: claimed from the outbox, composed in their language, handed to an
//! SMS gateway or a mail server, and tried again until somebody takes them or they are of no use any more.
//!
//! At least once: a process that dies between handing a message over and putting that on record leaves it to be sent
//! again, under the same name, by which a repeat can be recognised. No token, number or address is ever logged.
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
