//! The answers of this surface, field by field in the order of the specification. These types are always written
//! qualified: `wire::Purchase` is the JSON, `purchase::Record` is the domain object.

mod account;
mod actor;
mod batches;
mod camt;
mod certificate;
mod csv;
mod deliveries;
mod event;
mod listed;
mod moment;
mod printed;
mod product;
mod purchase;
mod queued;
mod recovery;
mod sales;
mod session;
mod statement;
mod webhooks;

/// The header of a page in any format that leads to the next page.
pub const NEXT_CURSOR: &str = "X-Next-Cursor";

pub use account::Account;
pub use actor::{Actor, Beneficiary, Payer};
pub use batches::{Batch, BatchLinePage, BatchPage};
pub use camt::Camt053;
pub use certificate::{Certificate, certify};
pub use deliveries::{Redelivery, WebhookAttempt, WebhookAttemptPage, WebhookTest};
pub use event::EventPage;
pub use listed::{ListedPurchase, PurchasePage, SubscriberPurchases};
pub use printed::{beneficiary_number, printed_date, sale, sold};
pub use product::Product;
pub use purchase::Purchase;
pub use queued::QueuedMessage;
pub use recovery::Recovery;
pub use sales::{Sales, SalesRow};
pub use session::{Me, Session};
pub use statement::{Line, Statement};
pub use webhooks::{DeletedWebhookEndpoint, WebhookEndpoint, WebhookEndpointWithSecret};
