//! One HTTP exchange with a vendor. It is sent at most once, never redirected, never retried, and bounded in time and
//! size. A closed gate stops it until the first byte of its body is sent.
//!
//! This crate has the parts that are the same for every HTTP adapter. The adapters interpret the replies.
//!
#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod body;
mod no_reply;
mod transport;

pub use no_reply::NoReply;
pub use reqwest::{Url, header};
pub use transport::{HttpReply, Outgoing, Transport, TransportError, TransportSettings};
