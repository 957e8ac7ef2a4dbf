//! The rules of outgoing webhooks.
//!
#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod destination;
mod endpoint;
mod keys;
mod network;
mod schedule;
mod signature;

pub use destination::{DESTINATION_LENGTH_MAX, Destination, DestinationError, DestinationRules};
pub use endpoint::{
    ENDPOINTS_MAX, Endpoint, EndpointChange, EndpointId, EndpointSettings, EndpointStatus, SwitchedOff,
};
pub use keys::{MalformedKey, SigningKeys, VerifyingKey};
pub use network::is_public;
pub use schedule::{ATTEMPTS_MAX, is_accepted, next_pause};
pub use signature::{Message, TOLERANCE, Unverified, signature_header, verify};
