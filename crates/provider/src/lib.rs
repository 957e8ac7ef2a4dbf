//! The port to a vending provider.
//!
//! The vendor is outside our control and must be scripted in tests, so it gets a trait, an adapter
//! crate per vendor, a double beside the trait, and a conformance kit that any adapter can run.
#![warn(missing_docs)]

pub mod conformance;
mod gate;
pub mod scripted;

use async_trait::async_trait;
use vend::{
    CallId, Customer, Enquiry, Product, Quotation, Sale, SubscriberIdentifier, Unanswered, VendOrder,
    VendOutcome,
};

pub use gate::Gate;

/// One connection to one vendor. Every method is required and every outcome is typed: a half-written
/// adapter does not compile. An adapter holds no database connection and retries nothing.
#[async_trait]
pub trait Provider: Send + Sync {
    /// Asks who the subscriber is and whether, and within which limits, it may buy. Moves nothing.
    async fn check(
        &self,
        call: CallId,
        product: Product,
        subscriber: &SubscriberIdentifier,
    ) -> Result<Customer, Unanswered>;

    /// Asks what this sale would yield now. Moves nothing and binds nobody.
    async fn quote(&self, call: CallId, sale: &Sale) -> Result<Quotation, Unanswered>;

    /// Has the provider go through the whole sale without money: a dummy token is made, and nothing is vended
    /// (specification, section 4.2, `hard_validate`). The dummy is proof and goes no further: whoever asks learns what
    /// the sale would yield, as of a quote. A provider that cannot do this refuses as one that is not set up for it.
    async fn trial(&self, call: CallId, sale: &Sale) -> Result<Quotation, Unanswered>;

    /// Sends the order: one request, no retry, no redirect, one total deadline. The gate is looked at
    /// once more when the connection stands and the first byte of the body is about to leave; a closed
    /// gate is a refusal that proves that nothing was sent.
    async fn vend(&self, order: &VendOrder, gate: &Gate) -> VendOutcome;

    /// Asks what became of an order sent earlier. Never vends.
    async fn enquire(&self, call: CallId, order: &VendOrder) -> Enquiry;
}
