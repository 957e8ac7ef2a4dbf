//! Electricity and water over XMLVend 2.1 (NRS 009-6-10): SOAP over HTTP.
//!
//! One file per station of an exchange: `request` writes, `transport` carries, `tree`, `envelope` and
//! `reply` read, `classify` judges. Everything but `transport` is pure. Writing is strict and reading
//! liberal, because live gateways differ in order, prefixes, envelope version and compression; what a
//! reply *proves* is never guessed.
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
