//! One HTTP exchange with a vendor. It is sent at most once, never redirected, never retried, and bounded in time and
//! size. A closed gate stops it until the first byte of its body is sent.
//!
//! This crate has the parts that are the same for every HTTP adapter. The adapters interpret the replies.
//!
#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod address;
mod body;
mod no_reply;
mod timeouts;
mod transport;

#[doc = include_str!("../ADAPTER.md")]
pub mod tutorial {}

pub use address::{base_url, below};
pub use no_reply::NoReply;
pub use reqwest::{Url, header};
pub use secrecy::SecretString;
pub use timeouts::timeouts_are_in_order;
pub use transport::{HttpReply, Outgoing, Transport, TransportError, TransportSettings};
