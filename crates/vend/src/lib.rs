//! The values of one vend: the request to a provider, and every possible answer.
//!
//! The answer to a vend has three forms: the provider *vended*, it *refused*, or the result is *unknown*. The correct
//! handling of the third form decides whether money is lost. See [`VendOutcome`].
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
