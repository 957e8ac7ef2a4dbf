//! The examination of one adapter. All calls go through it, because some requirements apply to every call.

use std::{
    collections::BTreeMap,
    fmt::Debug,
    future::{self, Future},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    task::Poll,
};

use money::Money;
use vend::{
    CallId, Customer, Enquiry, ProviderReference, Quotation, Sale, Unanswered, VendOrder, VendOutcome,
};

use super::{Broken, Judgement, Made, Mishap, Operation, Requirement, World};
use crate::{Gate, Provider};

/// Why a scenario did not reach its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The requirement is violated. The text says what the adapter did.
    Broken(String),
    /// The world cannot arrange the scenario, or the violation of another requirement hides the result.
    Untested,
}

/// How a scenario ended.
pub(super) type Verdict = Result<(), End>;

pub(super) struct Examination<'a> {
    pub(super) world: &'a dyn World,
    kept: Vec<Requirement>,
    broken: BTreeMap<Requirement, Broken>,
    untested: Vec<Requirement>,
    /// The mishaps that were arranged in this scenario.
    scripted: Vec<String>,
    /// The `Debug` form of what every call returned, with what was scripted at that time.
    said: Vec<(String, String)>,
}

impl<'a> Examination<'a> {
    pub(super) const fn of(world: &'a dyn World) -> Self {
        Self {
            world,
            kept: Vec::new(),
            broken: BTreeMap::new(),
            untested: Vec::new(),
            scripted: Vec::new(),
            said: Vec::new(),
        }
    }

    pub(super) async fn begin(&mut self) {
        self.scripted.clear();
        self.forget_mishaps().await;
    }

    pub(super) fn end(&mut self, requirement: Requirement, verdict: Verdict) {
        match verdict {
            Ok(()) => self.kept.push(requirement),
            Err(End::Untested) => self.untested.push(requirement),
            Err(End::Broken(seen)) => self.report(requirement, seen),
        }
    }

    pub(super) async fn judgement(mut self) -> Judgement {
        self.look_for_tokens().await;
        let broken = self.broken.into_values().collect();
        Judgement { kept: self.kept, broken, untested: self.untested }
    }

    /// Arranges a mishap for the next call of an operation.
    pub(super) async fn arrange(&mut self, operation: Operation, mishap: Mishap) -> Result<(), End> {
        let by_the_wire = self.world.wire().is_some_and(|wire| wire.arrange(operation, mishap));
        if !by_the_wire && !self.world.arrange(operation, mishap).await {
            return Err(End::Untested);
        }
        self.scripted.push(format!("the next {operation}: {mishap}"));
        Ok(())
    }

    /// Adds a description of another action to the report.
    pub(super) fn note(&mut self, what: &str) {
        self.scripted.push(what.to_owned());
    }

    /// Drops what was arranged, and begins another part of the same scenario.
    pub(super) async fn forget_mishaps(&mut self) {
        self.scripted.clear();
        if let Some(wire) = self.world.wire() {
            wire.clear();
        }
        self.world.forget_mishaps().await;
    }

    /// Fails as untested if a mishap that was arranged on the wire has not happened. Then the adapter sent no request.
    pub(super) fn happened(&self) -> Result<(), End> {
        if self.world.wire().is_some_and(super::Wire::is_pending) { Err(End::Untested) } else { Ok(()) }
    }

    pub(super) fn fresh_order(&self) -> VendOrder {
        let reference = ProviderReference::new(self.world.fresh_call());
        VendOrder { reference, sale: self.world.fresh_sale() }
    }

    pub(super) async fn vend(&mut self, order: &VendOrder) -> Result<VendOutcome, End> {
        self.vend_behind(order, &Gate::while_true(|| true)).await
    }

    pub(super) async fn vend_behind(&mut self, order: &VendOrder, gate: &Gate) -> Result<VendOutcome, End> {
        let before = self.orders_received();
        let world = self.world;
        let outcome = self.call("vend", world.provider().vend(order, gate)).await;
        if let (Some(before), Some(after)) = (before, self.orders_received()) {
            let sent = after.saturating_sub(before);
            if sent > 1 {
                self.report(Requirement::SendsOnce, format!("one call sent the order {sent} times"));
            }
        }
        outcome
    }

    pub(super) async fn vend_by(
        &mut self,
        provider: &dyn Provider,
        order: &VendOrder,
    ) -> Result<VendOutcome, End> {
        self.call("vend", provider.vend(order, &Gate::while_true(|| true))).await
    }

    pub(super) async fn enquire(&mut self, order: &VendOrder) -> Result<Enquiry, End> {
        let (world, call) = (self.world, self.world.fresh_call());
        self.call("enquiry", world.provider().enquire(call, order)).await
    }

    pub(super) async fn enquire_by(
        &mut self,
        provider: &dyn Provider,
        order: &VendOrder,
    ) -> Result<Enquiry, End> {
        let call = self.world.fresh_call();
        self.call("enquiry", provider.enquire(call, order)).await
    }

    pub(super) async fn check(&mut self, sale: &Sale) -> Result<Result<Customer, Unanswered>, End> {
        let (world, call) = (self.world, self.world.fresh_call());
        self.call("check", world.provider().check(call, sale.product, &sale.subscriber)).await
    }

    pub(super) async fn quote(&mut self, sale: &Sale) -> Result<Result<Quotation, Unanswered>, End> {
        let (world, call): (_, CallId) = (self.world, self.world.fresh_call());
        self.call("quote", world.provider().quote(call, sale)).await
    }

    pub(super) async fn trial(&mut self, sale: &Sale) -> Result<Result<Quotation, Unanswered>, End> {
        let (world, call): (_, CallId) = (self.world, self.world.fresh_call());
        self.call("trial", world.provider().trial(call, sale)).await
    }

    pub(super) async fn float(&mut self) -> Result<Result<Option<Money>, Unanswered>, End> {
        let (world, call): (_, CallId) = (self.world, self.world.fresh_call());
        self.call("float", world.provider().float(call)).await
    }

    /// The number of orders that reached this world. `None` without a wire, because nothing is counted then.
    pub(super) fn orders_received(&self) -> Option<usize> {
        self.world.wire().map(|wire| wire.received(Operation::Vend))
    }

    /// The vends that this world made under the reference of this order.
    pub(super) async fn made(&self, order: &VendOrder) -> Vec<Made> {
        let reference = order.reference.to_string();
        self.world.vends().await.into_iter().filter(|made| made.reference == reference).collect()
    }

    pub(super) fn report(&mut self, requirement: Requirement, seen: String) {
        let scripted = self.scripted();
        self.broken.entry(requirement).or_insert(Broken { requirement, scripted, seen });
    }

    fn scripted(&self) -> String {
        if self.scripted.is_empty() { "nothing went wrong".to_owned() } else { self.scripted.join("; ") }
    }

    /// Makes a call within the deadline and catches its panic. The answer is kept for the search for tokens.
    async fn call<T: Debug>(&mut self, what: &str, call: impl Future<Output = T>) -> Result<T, End> {
        match tokio::time::timeout(self.world.deadline(), unwinding(call)).await {
            Ok(Some(answer)) => {
                self.said.push((self.scripted(), format!("{answer:?}")));
                Ok(answer)
            }
            Ok(None) => {
                self.report(Requirement::NeverPanics, format!("the {what} panicked"));
                Err(End::Untested)
            }
            Err(_elapsed) => {
                let deadline = self.world.deadline();
                self.report(
                    Requirement::KeepsDeadlines,
                    format!("the {what} had not ended after {deadline:?}"),
                );
                Err(End::Untested)
            }
        }
    }

    /// Reports a violation if any answer shows an issued token, in any grouping.
    async fn look_for_tokens(&mut self) {
        let digits = |text: &str| text.chars().filter(|c| !matches!(c, ' ' | '-')).collect::<String>();
        let issued = self.world.vends().await.into_iter().flat_map(|made| made.tokens);
        let issued: Vec<String> =
            issued.map(|token| digits(&token)).filter(|token| token.len() > 3).collect();
        let tells = |(_scripted, said): &&(String, String)| {
            let said = digits(said);
            issued.iter().any(|token| said.contains(token.as_str()))
        };
        if let Some((scripted, said)) = self.said.iter().find(tells).cloned() {
            let seen = format!("this answer shows a token: {said}");
            self.broken.entry(Requirement::TokensStaySealed).or_insert(Broken {
                requirement: Requirement::TokensStaySealed,
                scripted,
                seen,
            });
        }
    }
}

/// The output of the future. `None` if it panics.
async fn unwinding<T>(call: impl Future<Output = T>) -> Option<T> {
    let mut call = pin!(call);
    future::poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| call.as_mut().poll(context)));
        polled.map_or(Poll::Ready(None), |poll| poll.map(Some))
    })
    .await
}
