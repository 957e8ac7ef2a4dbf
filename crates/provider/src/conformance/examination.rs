//! One adapter before all laws: every call goes through here, so that what holds of every call is seen at every call.

use std::{
    collections::BTreeMap,
    fmt::Debug,
    future::{self, Future},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    task::Poll,
};

use vend::{
    CallId, Customer, Enquiry, ProviderReference, Quotation, Sale, Unanswered, VendOrder, VendOutcome,
};

use super::{Broken, Judgement, Law, Made, Mishap, Operation, World};
use crate::{Gate, Provider};

/// Why a scenario did not reach its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The law is broken; what the adapter did.
    Broken(String),
    /// This world cannot do what the law is about, or another law is broken that hides this one.
    Untested,
}

/// How a scenario ended.
pub(super) type Verdict = Result<(), End>;

/// The laws about every call. They are broken wherever that is seen.
const OF_EVERY_CALL: [Law; 4] =
    [Law::SendsOnce, Law::KeepsDeadlines, Law::TokensStaySealed, Law::NeverPanics];

pub(super) struct Examination<'a> {
    pub(super) world: &'a dyn World,
    kept: Vec<Law>,
    broken: BTreeMap<Law, Broken>,
    untested: Vec<Law>,
    /// What the world was told to do in this scenario.
    scripted: Vec<String>,
    /// What every call returned, as a log would show it, with what was scripted then.
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

    pub(super) async fn begin(&mut self, _law: Law) {
        self.scripted.clear();
        self.forget_mishaps().await;
    }

    pub(super) fn end(&mut self, law: Law, verdict: Verdict) {
        if OF_EVERY_CALL.contains(&law) {
            // These are decided when everything has been seen.
            if verdict == Err(End::Untested) {
                self.untested.push(law);
            }
            return;
        }
        match verdict {
            Ok(()) => self.kept.push(law),
            Err(End::Untested) => self.untested.push(law),
            Err(End::Broken(seen)) => self.convict(law, seen),
        }
    }

    pub(super) async fn judgement(mut self) -> Judgement {
        self.look_for_tokens().await;
        for law in OF_EVERY_CALL {
            self.untested.retain(|untested| *untested != law || !self.broken.contains_key(&law));
            if !self.broken.contains_key(&law) && !self.untested.contains(&law) {
                self.kept.push(law);
            }
        }
        let broken = self.broken.into_values().collect();
        Judgement { kept: self.kept, broken, untested: self.untested }
    }

    /// Has something go wrong with the next call of an operation.
    pub(super) async fn arrange(&mut self, operation: Operation, mishap: Mishap) -> Result<(), End> {
        let by_the_wire = self.world.wire().is_some_and(|wire| wire.arrange(operation, mishap));
        if !by_the_wire && !self.world.arrange(operation, mishap).await {
            return Err(End::Untested);
        }
        self.scripted.push(format!("the next {operation}: {mishap}"));
        Ok(())
    }

    /// Says in words what else was done to the adapter.
    pub(super) fn note(&mut self, what: &str) {
        self.scripted.push(what.to_owned());
    }

    /// Begins another part of the same scenario.
    pub(super) async fn forget_mishaps(&mut self) {
        self.scripted.clear();
        if let Some(wire) = self.world.wire() {
            wire.clear();
        }
        self.world.forget_mishaps().await;
    }

    /// Whether what was arranged on the wire has happened; else the adapter did not ask, and nothing was shown.
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
                self.convict(Law::SendsOnce, format!("one call sent the order {sent} times"));
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

    /// How many orders have reached this world; none where nothing is counted.
    pub(super) fn orders_received(&self) -> Option<usize> {
        self.world.wire().map(|wire| wire.received(Operation::Vend))
    }

    /// The vends that this world made under a reference.
    pub(super) async fn made(&self, order: &VendOrder) -> Vec<Made> {
        let reference = order.reference.to_string();
        self.world.vends().await.into_iter().filter(|made| made.reference == reference).collect()
    }

    pub(super) fn convict(&mut self, law: Law, seen: String) {
        let scripted = self.scripted();
        self.broken.entry(law).or_insert(Broken { law, scripted, seen });
    }

    fn scripted(&self) -> String {
        if self.scripted.is_empty() { "nothing went wrong".to_owned() } else { self.scripted.join("; ") }
    }

    /// Makes a call, bounded in time, and survives its panic. What it says is kept.
    async fn call<T: Debug>(&mut self, what: &str, call: impl Future<Output = T>) -> Result<T, End> {
        match tokio::time::timeout(self.world.deadline(), unwinding(call)).await {
            Ok(Some(answer)) => {
                self.said.push((self.scripted(), format!("{answer:?}")));
                Ok(answer)
            }
            Ok(None) => {
                self.convict(Law::NeverPanics, format!("the {what} panicked"));
                Err(End::Untested)
            }
            Err(_elapsed) => {
                let deadline = self.world.deadline();
                self.convict(Law::KeepsDeadlines, format!("the {what} had not ended after {deadline:?}"));
                Err(End::Untested)
            }
        }
    }

    /// Whether anything that was said holds a token that was issued, however that is grouped.
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
            let seen = format!("this was said, with a token in it: {said}");
            self.broken.entry(Law::TokensStaySealed).or_insert(Broken {
                law: Law::TokensStaySealed,
                scripted,
                seen,
            });
        }
    }
}

/// What the future yields; none if it panics.
async fn unwinding<T>(call: impl Future<Output = T>) -> Option<T> {
    let mut call = pin!(call);
    future::poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| call.as_mut().poll(context)));
        polled.map_or(Poll::Ready(None), |poll| poll.map(Some))
    })
    .await
}
