//! The values of one vend: the order to a provider, and every possible answer.
//!
#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod answer;
mod capabilities;
mod customer;
mod order;
mod product;
mod reference;
mod refusal;
mod statement;
mod subscriber;
mod text;

pub use answer::{Breakdown, Doubt, Enquiry, Quotation, RawReply, Unclear, Units, Vend, VendOutcome};
pub use capabilities::Capabilities;
pub use customer::{Customer, Unanswered};
pub use order::{Sale, VendOrder};
pub use product::Product;
pub use reference::{CallId, CallIdError, ProviderReference};
pub use refusal::{Refusal, RefusalReason};
pub use statement::{
    ListedOrder, ListedSale, ListedState, NoStatement, StatementPage, StatementRequest, UnreadableOrder,
};
pub use subscriber::{SubscriberIdentifier, SubscriberIdentifierError};
pub use text::one_line;
