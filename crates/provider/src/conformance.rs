//! The laws that every adapter must keep, put to the test against a world of the adapter's own.
//!
//! An adapter says about each order that it was vended, that it was refused, or that this is unknown; and money moves by
//! what it says. The laws are about proof: what may be called vended, what may be called refused, and what is left in
//! doubt. [`Law::ALL`] lists them, each with its danger.
//!
//! To examine an adapter, implement [`World`] over a simulator of its provider, and assert that [`judge`] finds no law
//! broken. Where the simulator speaks plain HTTP, a [`Wire`] before it does all that can go wrong between two machines;
//! what only the provider itself can do wrong is [arranged](World::arrange) by the world.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use async_trait::async_trait;
//! use provider::Provider;
//! use provider::conformance::{Law, Made, Mishap, Operation, Wire, World, judge};
//! use vend::{CallId, Capabilities, Sale};
//!
//! # trait Simulator: Send + Sync {
//! #     fn address(&self) -> std::net::SocketAddr;
//! #     fn next_vend_is_refused(&self);
//! #     fn log(&self) -> Vec<(String, Vec<String>)>;
//! #     fn forget_script(&self);
//! # }
//! # fn adapter(url: &str) -> Box<dyn Provider> { unimplemented!() }
//! # fn next_call() -> CallId { unimplemented!() }
//! # fn hundred_for_a_meter_in(currency: &str) -> Sale { unimplemented!() }
//! # fn simulator() -> std::sync::Arc<dyn Simulator> { unimplemented!() }
//! struct Utility {
//!     simulator: std::sync::Arc<dyn Simulator>,
//!     wire: Wire,
//!     adapter: Box<dyn Provider>,
//! }
//!
//! #[async_trait]
//! impl World for Utility {
//!     fn provider(&self) -> &dyn Provider { self.adapter.as_ref() }
//!     fn provider_of_nowhere(&self) -> Box<dyn Provider> { adapter("http://127.0.0.1:1") }
//!     fn wire(&self) -> Option<&Wire> { Some(&self.wire) }
//!     fn deadline(&self) -> Duration { Duration::from_secs(3) }
//!     fn capabilities(&self) -> Capabilities { Capabilities { repeat_is_safe: true, ..Capabilities::NONE } }
//!     fn fresh_call(&self) -> CallId { next_call() }
//!     fn fresh_sale(&self) -> Sale { hundred_for_a_meter_in("BWP") }
//!     fn sale_of_another_product(&self) -> Option<Sale> { None }
//!     fn sale_in_another_currency(&self) -> Option<Sale> { Some(hundred_for_a_meter_in("ZAR")) }
//!
//!     async fn arrange(&self, operation: Operation, mishap: Mishap) -> bool {
//!         match (operation, mishap) {
//!             (Operation::Vend, Mishap::Refused) => self.simulator.next_vend_is_refused(),
//!             (Operation::Vend, Mishap::ReferenceLeftOut) => {
//!                 self.wire.rewrite(operation, |answer| answer.replace("reference", "nothing"));
//!             }
//!             // … and so on. What is left out here is reported as untested.
//!             _ => return false,
//!         }
//!         true
//!     }
//!
//!     async fn forget_mishaps(&self) { self.simulator.forget_script() }
//!
//!     async fn vends(&self) -> Vec<Made> {
//!         let log = self.simulator.log().into_iter();
//!         log.map(|(reference, tokens)| Made { reference, tokens }).collect()
//!     }
//! }
//!
//! # async fn test() -> std::io::Result<()> {
//! let simulator = simulator();
//! let wire = Wire::to(simulator.address(), |request, operation| match operation {
//!     Operation::Vend => request.line.starts_with("POST /vend"),
//!     Operation::Enquiry => request.line.starts_with("GET /orders/"),
//!     Operation::Check | Operation::Quote | Operation::Trial => request.line.starts_with("GET /meters/"),
//! })?;
//! let utility = Utility { adapter: adapter(&wire.url()), simulator, wire };
//! // This provider's refusals carry no reference, and it sells nothing else.
//! judge(&utility).await.assert_kept_all_but(&[
//!     Law::RefusalOfAnother,
//!     Law::RefusalWithoutReference,
//!     Law::AnotherProduct,
//!     // …
//! ]);
//! # Ok(())
//! # }
//! ```
//!
//! A law that is broken is told with what the world did, what the adapter made of it, and the danger:
//!
//! ```text
//! The adapter breaks the law Silence: an answer that does not come in time is doubt.
//!   What happened:  the next vend: it is carried out, and nothing is ever answered
//!   What it did:    the vend got Refused(Refusal { reason: Other, wording: None })
//!   The danger:     what is vended a moment later is refunded
//! ```
//!
//! The kit is itself tested by mutants: for every law there is an adapter in this crate's tests that breaks that law and
//! no other, and that must be convicted by the law's name.

mod examination;
mod judgement;
mod law;
mod mishap;
mod scenarios;
mod wire;

use std::time::Duration;

use async_trait::async_trait;
use vend::{CallId, Capabilities, Sale};

use crate::Provider;
use examination::Examination;

pub use judgement::{Broken, Judgement};
pub use law::Law;
pub use mishap::{Garbage, Mishap, Operation};
pub use wire::{Answer, Request, Wire};

/// A provider's simulator, as the laws see it.
#[async_trait]
pub trait World: Send + Sync {
    /// The adapter under test, connected to this world: through the wire, if there is one.
    fn provider(&self) -> &dyn Provider;

    /// The same adapter, connected to an address where nothing listens.
    fn provider_of_nowhere(&self) -> Box<dyn Provider>;

    /// The wire through which the adapter is connected. Without one, the world is asked for what happens on a wire too,
    /// and laws that need something to be counted there stay untested.
    fn wire(&self) -> Option<&Wire>;

    /// No call may take longer, as the adapter is set up here. A second or two beyond its own timeouts, which should be
    /// short: some laws wait for them.
    fn deadline(&self) -> Duration;

    /// How this world behaves.
    fn capabilities(&self) -> Capabilities;

    /// A call id that was never used.
    fn fresh_call(&self) -> CallId;

    /// A sale that this world carries out when nothing goes wrong; each time for a subscriber or an
    /// amount that does not collide with an earlier one.
    fn fresh_sale(&self) -> Sale;

    /// A sale of a product that the connection does not sell, if there is any.
    fn sale_of_another_product(&self) -> Option<Sale>;

    /// A sale in a currency that the connection does not sell in.
    fn sale_in_another_currency(&self) -> Option<Sale>;

    /// Makes this happen to the next call of an operation; false where the world cannot.
    async fn arrange(&self, operation: Operation, mishap: Mishap) -> bool;

    /// Forgets what was arranged and has not happened yet.
    async fn forget_mishaps(&self);

    /// All vends that this world really made, one for each vend.
    async fn vends(&self) -> Vec<Made>;
}

/// A vend that a world really made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// The reference, as it is written on the wire.
    pub reference: String,
    /// The tokens that were issued, in the order in which they are entered.
    pub tokens: Vec<String>,
}

/// Puts an adapter to every law, one after the other.
pub async fn judge(world: &dyn World) -> Judgement {
    let mut examination = Examination::of(world);
    for law in Law::ALL {
        examination.begin(*law).await;
        let end = scenarios::run(*law, &mut examination).await;
        examination.end(*law, end);
    }
    examination.judgement().await
}
