//! What the tests of several crates share. It is a dev-dependency only: nothing that is shipped contains it.
//!
//! Each module with dependencies is a feature of the same name. What fails here fails the test, by a panic.
#![warn(missing_docs)]

pub mod books;
#[cfg(feature = "database")]
pub mod database;
pub mod fields;
#[cfg(feature = "log")]
pub mod log;
#[cfg(feature = "openid")]
pub mod openid_provider;
#[cfg(feature = "organisation")]
pub mod organisation;
pub mod packaging;
#[cfg(feature = "purchases")]
pub mod purchases;
#[cfg(feature = "relay")]
pub mod relay;
#[cfg(feature = "simulator")]
pub mod simulator;
pub mod span_receiver;
#[cfg(feature = "tls")]
pub mod tls_server;
#[cfg(feature = "waiting")]
pub mod waiting;
#[cfg(feature = "relay")]
pub mod wire;
#[cfg(feature = "wire-form")]
pub mod wire_form;
