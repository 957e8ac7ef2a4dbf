//! The state of the scripted provider: its script, its calls, its vends and its refusals.

use std::collections::{BTreeMap, VecDeque};

use meter_token::{DescribedToken, TokenSet};
use money::Money;
use vend::{
    Breakdown, Customer, Doubt, Enquiry, ProviderReference, Quotation, RawReply, Refusal, RefusalReason,
    Sale, SubscriberIdentifier, Unanswered, Units, Vend, VendOrder, VendOutcome,
};

use crate::scripted::{Conduct, Latch, NextEnquiry, NextVend, OnRepeat};

#[derive(Debug)]
pub(super) struct ProviderState {
    conduct: Conduct,
    pub(super) next_vends: VecDeque<NextVend>,
    pub(super) next_enquiries: VecDeque<NextEnquiry>,
    pub(super) next_unanswered: VecDeque<Unanswered>,
    pub(super) float: Option<Money>,
    pub(super) mentioned_float: Option<Money>,
    pub(super) customers: BTreeMap<SubscriberIdentifier, Customer>,
    pub(super) queue: Vec<(Latch, VendOrder)>,
    pub(super) calls: Vec<String>,
    known_references: Vec<ProviderReference>,
    vended: Vec<(VendOrder, Vend)>,
    refused: BTreeMap<ProviderReference, Refusal>,
}

/// What the provider does with a request that it has not seen.
#[derive(Clone, Copy, Debug)]
pub(super) enum Verdict {
    Vend,
    Refuse(RefusalReason),
}

impl Default for ProviderState {
    fn default() -> Self {
        Self::of_conduct(Conduct::REJECTS_REPEATS)
    }
}

impl ProviderState {
    pub(super) fn of_conduct(conduct: Conduct) -> Self {
        Self {
            conduct,
            next_vends: VecDeque::new(),
            next_enquiries: VecDeque::new(),
            next_unanswered: VecDeque::new(),
            float: None,
            mentioned_float: None,
            customers: BTreeMap::new(),
            queue: Vec::new(),
            calls: Vec::new(),
            known_references: Vec::new(),
            vended: Vec::new(),
            refused: BTreeMap::new(),
        }
    }

    pub(super) fn note(&mut self, call: &str, order: &VendOrder) {
        let known = self.known_references.iter().position(|reference| *reference == order.reference);
        let place = known.unwrap_or_else(|| {
            self.known_references.push(order.reference);
            self.known_references.len().saturating_sub(1)
        });
        self.calls.push(format!("{call} #{}", place.saturating_add(1)));
    }

    /// Handles a request that arrived.
    pub(super) fn take(&mut self, order: &VendOrder, verdict: Verdict) -> VendOutcome {
        self.take_from_queue();
        match (self.outcome_of(order.reference), self.conduct.on_repeat) {
            (Some(_), OnRepeat::Rejects) => VendOutcome::Unknown(Doubt::RepeatedReference.into()),
            (Some(outcome), OnRepeat::AnswersFromMemory) => outcome,
            (Some(_), OnRepeat::VendsAgain) | (None, _) => self.carry_out(order, verdict),
        }
    }

    /// Answers an enquiry.
    pub(super) fn recall(&mut self, order: &VendOrder) -> Enquiry {
        self.take_from_queue();
        match self.outcome_of(order.reference) {
            Some(VendOutcome::Vended(vend)) if self.conduct.remembers_vends => Enquiry::Vended(vend),
            Some(VendOutcome::Refused(refusal)) if self.conduct.remembers_refusals => {
                Enquiry::Refused(refusal)
            }
            Some(VendOutcome::Vended(_) | VendOutcome::Refused(_) | VendOutcome::Unknown(_)) | None => {
                Enquiry::NoRecord
            }
        }
    }

    pub(super) fn vends(&mut self) -> Vec<VendOrder> {
        self.take_from_queue();
        self.vended.iter().map(|(order, _vend)| order.clone()).collect()
    }

    pub(super) fn customer(&self, subscriber: &SubscriberIdentifier) -> Customer {
        let unnamed = Customer { name: None, barred: None, minimum: None, maximum: None };
        self.customers.get(subscriber).cloned().unwrap_or(unnamed)
    }

    pub(super) fn quotation(&self, sale: &Sale) -> Quotation {
        Quotation {
            units: Some(units(sale)),
            breakdown: Some(breakdown(sale)),
            subscriber_details: self.customer(&sale.subscriber).name,
        }
    }

    /// Handles the queued requests whose latch is open.
    fn take_from_queue(&mut self) {
        let (arrived, waiting) =
            std::mem::take(&mut self.queue).into_iter().partition(|(latch, _order)| latch.is_open());
        self.queue = waiting;
        let arrived: Vec<(Latch, VendOrder)> = arrived;
        for (_latch, order) in arrived {
            self.take(&order, Verdict::Vend);
        }
    }

    fn outcome_of(&self, reference: ProviderReference) -> Option<VendOutcome> {
        let vended = self.vended.iter().find(|(order, _vend)| order.reference == reference);
        let vended = vended.map(|(_order, vend)| VendOutcome::Vended(Box::new(vend.clone())));
        vended.or_else(|| self.refused.get(&reference).cloned().map(VendOutcome::Refused))
    }

    fn carry_out(&mut self, order: &VendOrder, verdict: Verdict) -> VendOutcome {
        match verdict {
            Verdict::Vend => {
                let vend = self.make(order);
                self.vended.push((order.clone(), vend.clone()));
                VendOutcome::Vended(Box::new(vend))
            }
            Verdict::Refuse(reason) => {
                let refusal = Refusal::because(reason);
                self.refused.insert(order.reference, refusal.clone());
                VendOutcome::Refused(refusal)
            }
        }
    }

    fn make(&self, order: &VendOrder) -> Vend {
        let call = order.reference.call();
        // Twenty digits that differ for every vend: the count of earlier vends, the call number, the second.
        let digits = format!("{:04}{:06}{:010}", self.vended.len(), call.number(), call.at().timestamp());
        let token = DescribedToken::parse("Credit Token", &digits).expect("digits are a valid token");
        Vend {
            tokens: order.sale.product.always_has_a_token().then(|| TokenSet::single(token)),
            units: Some(units(&order.sale)),
            provider_transaction: format!("S{}", order.reference),
            breakdown: Some(breakdown(&order.sale)),
            subscriber_details: self.customer(&order.sale.subscriber).name,
            raw_reply: RawReply(Vec::new()),
        }
    }
}

/// One unit for every unit of currency.
fn units(sale: &Sale) -> Units {
    Units { quantity: sale.amount.to_decimal(), unit: "kWh".to_owned() }
}

fn breakdown(sale: &Sale) -> Breakdown {
    let nothing = Money::zero(sale.amount.currency());
    Breakdown { cost: sale.amount, vat: nothing, levy: nothing, regulatory_fee: nothing, charge: nothing }
}
