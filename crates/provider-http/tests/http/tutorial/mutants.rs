//! Adapters with the mistakes that are made most often. The tutorial shows these lines.

// shown: use of the mutants
use async_trait::async_trait;
use provider::{Gate, Provider};
use vend::{
    CallId, Customer, Doubt, Enquiry, Product, Quotation, Refusal, RefusalReason, Sale, SubscriberIdentifier,
    Unanswered, VendOrder, VendOutcome,
};

use super::lumo::adapter::Lumo;
// end

// shown: mutants
/// A mistake around the correct adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    RefundsOnTimeout,
    SendsAgain,
    IgnoresTheGate,
    TakesSilenceForNothing,
}

pub struct Mutant {
    pub adapter: Lumo,
    pub mistake: Mistake,
}

#[async_trait]
impl Provider for Mutant {
    async fn vend(&self, order: &VendOrder, gate: &Gate) -> VendOutcome {
        let open = Gate::while_true(|| true);
        let gate = if self.mistake == Mistake::IgnoresTheGate { &open } else { gate };
        let outcome = self.adapter.vend(order, gate).await;
        match (self.mistake, outcome.doubt()) {
            (Mistake::RefundsOnTimeout, Some(Doubt::TimedOut)) => {
                VendOutcome::Refused(Refusal::because(RefusalReason::Other))
            }
            (Mistake::SendsAgain, Some(Doubt::ConnectionLost)) => self.adapter.vend(order, gate).await,
            _ => outcome,
        }
    }

    async fn enquire(&self, call: CallId, order: &VendOrder) -> Enquiry {
        let enquiry = self.adapter.enquire(call, order).await;
        let takes_for_nothing = self.mistake == Mistake::TakesSilenceForNothing && enquiry.doubt().is_some();
        if takes_for_nothing { Enquiry::NoRecord } else { enquiry }
    }

    async fn check(
        &self,
        call: CallId,
        product: Product,
        subscriber: &SubscriberIdentifier,
    ) -> Result<Customer, Unanswered> {
        self.adapter.check(call, product, subscriber).await
    }

    async fn quote(&self, call: CallId, sale: &Sale) -> Result<Quotation, Unanswered> {
        self.adapter.quote(call, sale).await
    }

    async fn trial(&self, call: CallId, sale: &Sale) -> Result<Quotation, Unanswered> {
        self.adapter.trial(call, sale).await
    }
}
// end
