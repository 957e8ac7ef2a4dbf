//! The kit acquits an honest provider and convicts a careless one.
#![expect(clippy::unwrap_used, reason = "helpers of tests; the values are literals")]

use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use chrono::DateTime;
use money::Money;
use provider::conformance::{Mishap, World, judge};
use provider::scripted::{Conduct, NextVend, ScriptedProvider};
use provider::{Gate, Provider};
use vend::{
    CallId, Capabilities, Customer, Enquiry, Product, ProviderReference, Quotation, Refusal, RefusalReason,
    Sale, SubscriberIdentifier, Unanswered, VendOrder, VendOutcome,
};

/// An adapter that takes silence for a no, a vend for a trial, and never looks at the gate.
struct Careless(ScriptedProvider);

#[async_trait]
impl Provider for Careless {
    async fn check(
        &self,
        call: CallId,
        product: Product,
        subscriber: &SubscriberIdentifier,
    ) -> Result<Customer, Unanswered> {
        self.0.check(call, product, subscriber).await
    }

    async fn quote(&self, call: CallId, sale: &Sale) -> Result<Quotation, Unanswered> {
        self.0.quote(call, sale).await
    }

    async fn trial(&self, call: CallId, sale: &Sale) -> Result<Quotation, Unanswered> {
        let order = VendOrder { reference: ProviderReference::new(call), sale: sale.clone() };
        self.vend(&order, &Gate::while_true(|| true)).await;
        self.quote(call, sale).await
    }

    async fn vend(&self, order: &VendOrder, _gate: &Gate) -> VendOutcome {
        match self.0.vend(order, &Gate::while_true(|| true)).await {
            VendOutcome::Unknown(_) => VendOutcome::Refused(Refusal::because(RefusalReason::Other)),
            known @ (VendOutcome::Vended(_) | VendOutcome::Refused(_)) => known,
        }
    }

    async fn enquire(&self, call: CallId, order: &VendOrder) -> Enquiry {
        self.0.enquire(call, order).await
    }
}

/// A world around the double itself.
struct Stage<P> {
    provider: P,
    utility: fn(&P) -> &ScriptedProvider,
    calls: AtomicU32,
}

#[async_trait]
impl<P: Provider> World for Stage<P> {
    fn provider(&self) -> &dyn Provider {
        &self.provider
    }

    fn provider_of_nowhere(&self) -> Box<dyn Provider> {
        let nowhere = ScriptedProvider::default();
        nowhere.will([NextVend::CannotBeReached]);
        Box::new(nowhere)
    }

    fn capabilities(&self) -> Capabilities {
        Conduct::REJECTS_REPEATS.capabilities()
    }

    fn fresh_call(&self) -> CallId {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        CallId::new(number, DateTime::from_timestamp(1_795_167_000, 0).unwrap()).unwrap()
    }

    fn fresh_sale(&self) -> Sale {
        Sale {
            product: Product::Electricity,
            subscriber: SubscriberIdentifier::parse("04257670465").unwrap(),
            amount: Money::parse_wire("BWP 100.00").unwrap(),
        }
    }

    async fn arrange(&self, mishap: Mishap) -> bool {
        let utility = (self.utility)(&self.provider);
        let next = match mishap {
            Mishap::RequestLost => NextVend::NeverArrives,
            Mishap::ReplyLost | Mishap::FailsAfterVending | Mishap::ReplyGarbled => {
                NextVend::VendsButReplyIsLost
            }
            Mishap::Refused => NextVend::Refuses(RefusalReason::Blocked),
            Mishap::AnswersAnotherReference
            | Mishap::AnswersAnotherSubscriber
            | Mishap::AnswersAnotherAmount
            | Mishap::TokenLeftOut
            | Mishap::RefusedForAnother => return false,
            Mishap::TrialRefused => {
                let refusal = Refusal::because(RefusalReason::Blocked);
                utility.will_leave_unanswered([Unanswered::Refused(refusal)]);
                return true;
            }
        };
        utility.will([next]);
        true
    }

    async fn vends(&self) -> Vec<String> {
        let vends = (self.utility)(&self.provider).vends();
        vends.iter().map(|vended| vended.reference.to_string()).collect()
    }
}

#[tokio::test]
async fn an_honest_provider_breaks_no_law() {
    let world = Stage {
        provider: ScriptedProvider::default(),
        utility: |provider| provider,
        calls: AtomicU32::new(1),
    };
    let judgement = judge(&world).await;
    assert_eq!(judgement.broken, []);
    assert_eq!((judgement.kept.len(), judgement.untested.len()), (14, 6));
}

#[tokio::test]
async fn a_careless_provider_is_convicted_of_what_it_did() {
    let world = Stage {
        provider: Careless(ScriptedProvider::default()),
        utility: |provider| &provider.0,
        calls: AtomicU32::new(1),
    };
    let broken: Vec<&str> = judge(&world).await.broken.into_iter().map(|broken| broken.law).collect();
    assert_eq!(
        broken,
        [
            "a trial vends nothing",
            "a refused trial is a refusal",
            "a closed gate sends nothing and proves it",
            "a lost request is doubt, and an enquiry finds no record",
            "a lost reply is doubt, and an enquiry finds the vend",
            "a failure after vending is doubt",
            "garbage is doubt",
            "a repeated reference vends once where that is declared",
        ]
    );
}
