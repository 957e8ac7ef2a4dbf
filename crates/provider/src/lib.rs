//! The interface to a vending provider.
//!
#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

pub mod conformance;
mod gate;
pub mod scripted;

use async_trait::async_trait;
use money::Money;
use vend::{
    CallId, Customer, Enquiry, NoStatement, Product, Quotation, Sale, StatementPage, StatementRequest,
    SubscriberIdentifier, Unanswered, VendOrder, VendOutcome,
};

pub use gate::Gate;

/// One connection to one vendor. Every method about sales is required and every outcome is typed, so an incomplete adapter
/// does not compile. An adapter holds no database connection and retries nothing. Write one with the attribute `#[async_trait]` of the
/// crate `async-trait`.
#[async_trait]
pub trait Provider: Send + Sync {
    /// Asks for the subscriber's name, whether it may buy, and its limits. Moves no money.
    async fn check(
        &self,
        call: CallId,
        product: Product,
        subscriber: &SubscriberIdentifier,
    ) -> Result<Customer, Unanswered>;

    /// Asks what this sale would yield now. Moves no money and is not binding.
    async fn quote(&self, call: CallId, sale: &Sale) -> Result<Quotation, Unanswered>;

    /// Has the provider rehearse the whole sale without money: it makes a dummy token and vends nothing.
    /// The adapter checks the dummy token and drops it. The caller gets
    /// what the sale would yield, as from a quote. A provider without trials refuses with
    /// [`Misconfigured`](vend::RefusalReason::Misconfigured).
    async fn trial(&self, call: CallId, sale: &Sale) -> Result<Quotation, Unanswered>;

    /// Sends the order: one request, no retry, no redirect, one total deadline. The adapter checks the gate after it
    /// has connected, immediately before it sends the first byte of the body. If the gate is closed, the result is a
    /// refusal ([`NeverSent`](vend::RefusalReason::NeverSent)), which proves that the order was not sent.
    async fn vend(&self, order: &VendOrder, gate: &Gate) -> VendOutcome;

    /// Asks for the result of an order that was sent earlier. Never vends.
    async fn enquire(&self, call: CallId, order: &VendOrder) -> Enquiry;

    /// Asks for our float: what is left of the money that we have prepaid at the vendor. Moves no money. `None` if the
    /// protocol has no question for it, which is the default.
    async fn float(&self, _call: CallId) -> Result<Option<Money>, Unanswered> {
        Ok(None)
    }

    /// Our float as the vendor mentioned it in the answer to a vend since the last call of this method. Sends nothing. `None` if it
    /// mentioned none, which is the default.
    fn mentioned_float(&self) -> Option<Money> {
        None
    }

    /// Asks for one page of the vendor's own list of our orders. Moves no money. It has no [`CallId`], because an operator asks, who has
    /// none to give. The default is a protocol without such a list.
    async fn statement(&self, _asked: &StatementRequest) -> Result<StatementPage, NoStatement> {
        Err(NoStatement::NotInProtocol)
    }
}
