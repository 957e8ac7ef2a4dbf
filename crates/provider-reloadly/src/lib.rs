//! Airtime over the Reloadly top-up API: JSON over HTTP, OAuth 2.0 client credentials.
//!
//! One file per station of an exchange: `access` keeps the token, `request` writes, `gateway` carries,
//! `reply` reads, `classify` judges. Everything but `access` and `gateway` is pure. The credit lands on the
//! SIM: a vend has no token, no units and no split. What a reply *proves* is never guessed.
#![warn(missing_docs)]

mod access;
mod adapter;
mod amount;
mod classify;
mod fault;
mod gateway;
mod operator;
mod operator_memory;
mod phone;
mod reply;
mod request;
mod rules;
mod settings;

pub use adapter::Reloadly;
pub use fault::FaultCode;
pub use settings::{ReloadlySettings, SettingsError};
