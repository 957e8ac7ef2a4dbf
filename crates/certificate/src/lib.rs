//! Certificates of the outcome of a purchase.
//!
#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod canonical;
mod facts;
mod jws;
mod keys;
mod salt;

pub use canonical::{NotCanonical, canonical_json};
pub use facts::{Facts, Outcome};
pub use jws::{Unverified, verify};
pub use keys::{Issued, KeyId, MalformedKey, PublicKey, SigningKey, key_set};
pub use salt::{Digested, Salt};
