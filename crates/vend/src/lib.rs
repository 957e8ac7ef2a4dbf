//! The values of one vend: what is asked of a provider, and everything that it may answer.
//!
//! A provider's answer to a vend has three shapes, and money depends on the third: it *vended*, it
//! *refused*, or nobody knows. See [`VendOutcome`].
#![warn(missing_docs)]

mod answer;
mod capabilities;
mod customer;
mod order;
mod product;
mod reference;
mod refusal;
mod subscriber;
mod text;

pub use answer::{Breakdown, Doubt, Enquiry, Quotation, RawReply, Unclear, Units, Vend, VendOutcome};
pub use capabilities::Capabilities;
pub use customer::{Customer, Unanswered};
pub use order::{Sale, VendOrder};
pub use product::Product;
pub use reference::{CallId, CallIdError, ProviderReference};
pub use refusal::{Refusal, RefusalReason};
pub use subscriber::{SubscriberIdentifier, SubscriberIdentifierError};
pub use text::one_line;
