//! The bodies that both surfaces read, field by field in the order of the specification. What differs between them is an
//! argument: the channels, what the subscriber is called, and what is said about product and provider.

mod credentials;
pub mod lengths;
mod purchase;

pub use credentials::{login_request, refresh_request};
pub use purchase::Vocabulary;
