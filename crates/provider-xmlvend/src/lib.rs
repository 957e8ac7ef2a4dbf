//! Electricity and water over XMLVend 2.1 (NRS 009-6-10): SOAP over HTTP.
//!
//! There is one module per step of an exchange: `request` writes the message, `transport` sends it, `tree`, `envelope`
//! and `reply` read the answer, `classify` judges it. All of them except `transport` are pure. Writing is strict.
//! Reading is tolerant, because live gateways differ in order, prefixes, envelope version and compression. The adapter
//! never guesses what a reply *proves*.
#![warn(missing_docs)]

mod adapter;
mod amount;
mod breakdown;
mod classify;
mod envelope;
mod fault;
mod fault_texts;
mod gzip;
mod names;
mod reply;
mod request;
mod resource;
mod rules;
mod settings;
mod tag;
mod tokens;
mod transport;
mod tree;

pub use adapter::XmlVend;
pub use fault_texts::FaultText;
pub use settings::{Credentials, DeviceId, LineDescriptions, SettingsError, SoapVersion, XmlVendSettings};
