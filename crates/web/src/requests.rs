//! The bodies that both surfaces read, field by field in the order of the specification. The differences between them
//! are arguments: the channels, the name of the subscriber field, and how product and provider are named.

mod credentials;
pub mod lengths;
mod purchase;

pub use credentials::{login_request, refresh_request};
pub use purchase::Vocabulary;
