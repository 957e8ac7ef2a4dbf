//! Prepaid electricity of Nigeria over the VTpass API: JSON over HTTP, keys in the head, amounts in naira.
//!
//! There is one module per step of an exchange: `request_id` gives our reference the vendor's form, `request` writes the
//! body, `gateway` sends it, `reply` reads the answer, `classify`, `customer` and `tokens` judge it. All of them except
//! `gateway` are pure. The README says which public document states what, and what no document states. What is not
//! stated is doubt.
#![warn(missing_docs)]

mod adapter;
mod classify;
mod codes;
mod customer;
mod gateway;
mod reply;
mod request;
mod request_id;
mod rules;
mod settings;
mod tokens;
mod units;

pub use adapter::Vtpass;
pub use settings::{SettingsError, VtpassSettings};
