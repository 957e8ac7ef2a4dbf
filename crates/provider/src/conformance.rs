//! The requirements that every adapter must meet, and the kit that tests them against a simulator.
//!
//! An adapter reports each order as vended, refused or unknown, and money moves by this report. The requirements are
//! about proof: what an adapter may report as vended, what as refused, and what is doubt. [`Requirement::ALL`] lists
//! them, each with the danger of a violation.
//!
//! To examine an adapter, implement [`World`] over a simulator of its provider, and assert that [`judge`] finds no
//! violation. If the simulator speaks plain HTTP, put a [`Wire`] in front of it: the wire injects all network faults.
//! The world [arranges](World::arrange) the faults that only the provider itself can cause.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use async_trait::async_trait;
//! use provider::Provider;
//! use provider::conformance::{Made, Mishap, Operation, Requirement, Wire, World, judge};
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
//!             // … and so on. Mishaps that are not listed here are reported as untested.
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
//!     Requirement::RefusalOfAnother,
//!     Requirement::RefusalWithoutReference,
//!     Requirement::AnotherProduct,
//!     // …
//! ]);
//! # Ok(())
//! # }
//! ```
//!
//! The report of a violation names the requirement, what the world did, what the adapter did, and the danger:
//!
//! ```text
//! The adapter violates the requirement Silence: an answer that does not come in time is doubt.
//!   What happened:  the next vend: it is carried out, and nothing is ever answered
//!   What it did:    the vend got Refused(Refusal { reason: Other, wording: None })
//!   The danger:     what is vended a moment later is refunded
//! ```
//!
//! The kit itself is tested by mutants. For every requirement, the tests of this crate have an adapter that violates
//! this requirement only. The kit must report exactly this requirement.

mod examination;
mod judgement;
mod mishap;
mod requirement;
mod scenarios;
mod wire;

use std::time::Duration;

use async_trait::async_trait;
use vend::{CallId, Capabilities, Sale};

use crate::Provider;
use examination::Examination;

pub use judgement::{Broken, Judgement};
pub use mishap::{Garbage, Mishap, Operation};
pub use requirement::Requirement;
pub use wire::{Answer, Request, Wire};

/// A simulator of a provider, together with the adapter under test.
#[async_trait]
pub trait World: Send + Sync {
    /// The adapter under test, connected to this world. If there is a wire, it is connected through the wire.
    fn provider(&self) -> &dyn Provider;

    /// The same adapter, connected to an address where nothing listens.
    fn provider_of_nowhere(&self) -> Box<dyn Provider>;

    /// The wire through which the adapter is connected. Without a wire, the world is asked to arrange network faults
    /// too, and requirements that need the counts of a wire stay untested.
    fn wire(&self) -> Option<&Wire>;

    /// The maximum duration of a call. It should be one or two seconds more than the adapter's own timeouts. These
    /// should be short, because some requirements wait for them.
    fn deadline(&self) -> Duration;

    /// The capabilities of this world's provider.
    fn capabilities(&self) -> Capabilities;

    /// A call id that was never used.
    fn fresh_call(&self) -> CallId;

    /// A sale that this world carries out if nothing goes wrong. Each sale has a subscriber or an amount that does not
    /// collide with an earlier sale.
    fn fresh_sale(&self) -> Sale;

    /// A sale of a product that the connection does not sell, if there is any.
    fn sale_of_another_product(&self) -> Option<Sale>;

    /// A sale in a currency that the connection does not sell in.
    fn sale_in_another_currency(&self) -> Option<Sale>;

    /// Makes this happen to the next call of an operation. Returns false if the world cannot do it.
    async fn arrange(&self, operation: Operation, mishap: Mishap) -> bool;

    /// Drops every arranged mishap that has not happened yet.
    async fn forget_mishaps(&self);

    /// All vends that this world made, one entry per vend.
    async fn vends(&self) -> Vec<Made>;
}

/// A vend that a world made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// The reference, as it is written on the wire.
    pub reference: String,
    /// The issued tokens, in the order of entry.
    pub tokens: Vec<String>,
}

/// Tests an adapter against every requirement, one after the other.
pub async fn judge(world: &dyn World) -> Judgement {
    Judgement::of([examine(world, 0, 1).await])
}

/// Tests an adapter against every requirement, in four worlds at the same time. Most of an examination is waiting for timeouts, so
/// it ends sooner.
///
/// `open` opens a new world each time. These worlds share nothing that an adapter or a mishap could change.
pub async fn judge_side_by_side<W: World>(open: impl Fn() -> W) -> Judgement {
    let [first, second, third, fourth] = [(); 4].map(|()| open());
    let share = |world, start| Box::pin(examine(world, start, 4));
    let (first, second, third, fourth) =
        tokio::join!(share(&first, 0), share(&second, 1), share(&third, 2), share(&fourth, 3));
    Judgement::of([first, second, third, fourth])
}

/// Tests an adapter against every `step`th requirement from the one at `start` on.
async fn examine(world: &dyn World, start: usize, step: usize) -> Judgement {
    let mut examination = Examination::of(world);
    for requirement in Requirement::ALL.iter().skip(start).step_by(step) {
        examination.begin().await;
        let end = scenarios::run(*requirement, &mut examination).await;
        examination.end(*requirement, end);
    }
    examination.judgement().await
}
