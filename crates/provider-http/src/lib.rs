//! One HTTP exchange with a vendor: sent at most once, never redirected, never retried, bounded in time
//! and size, and stopped by a closed gate up to the moment when its first byte would leave.
//!
//! What every adapter over HTTP must get right is here once; what a vendor says is for the adapter.
#![warn(missing_docs)]

mod body;
mod no_reply;
mod transport;

pub use no_reply::NoReply;
pub use reqwest::{Url, header};
pub use transport::{HttpReply, Outgoing, Transport, TransportError, TransportSettings};
