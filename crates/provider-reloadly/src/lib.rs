//! Airtime over the Reloadly top-up API: JSON over HTTP, OAuth 2.0 client credentials.
//!
//! There is one module per step of an exchange: `access` keeps the access token, `request` writes the order, `gateway`
//! sends it, `reply` reads the answer, `classify` judges it. All of them except `access` and `gateway` are pure. The
//! credit is added to the SIM, so a vend has no token, no units and no split. The adapter never guesses what a reply
//! *proves*.
#![warn(missing_docs)]

mod access;
mod adapter;
mod amount;
mod classify;
mod fault;
mod gateway;
mod listing;
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
