//! Decides what a reply proves. The functions are pure: they take the reply, the question and the deployment's rules,
//! and return a verdict. Everything that is not proven is doubt.

mod untried;

use meter_token::TokenSet;
use money::Money;
use vend::{
    CallId, Customer, Doubt, Enquiry, Product, Quotation, RawReply, Refusal, RefusalReason, Sale,
    SubscriberIdentifier, Unanswered, Unclear, Vend, VendOrder, VendOutcome,
};

use crate::amount::Amount;
use crate::breakdown::{breakdown, is_tendered_exactly, units};
use crate::fault::{self, Meaning};
use crate::reply::{
    AdviceReply, CustomerReply, CustomerResult, FaultReply, LastResponse, MessageId, Reply, SaleReply,
};
use crate::resource::resource;
use crate::rules::Rules;
use crate::tokens::{BadTokens, dummies, holds_more_than_dummies, tokens};
use crate::tree::Malformed;

pub(crate) use untried::Untried;

/// What an answer to a vend proves, and what it says of our credit besides.
pub(crate) struct Judged {
    pub(crate) outcome: VendOutcome,
    /// Our credit at the gateway after the vend. Only the answer to our own vend has it: an answer that is repeated later has the credit of
    /// long ago.
    pub(crate) credit: Option<Money>,
}

impl From<VendOutcome> for Judged {
    fn from(outcome: VendOutcome) -> Self {
        Self { outcome, credit: None }
    }
}

/// What an answer to a vend proves. A refusal counts only if it has our own reference. The refusal of another message
/// proves nothing about ours.
pub(crate) fn vend(raw: &[u8], order: &VendOrder, rules: &Rules) -> Result<Judged, Malformed> {
    let unknown = |doubt| VendOutcome::Unknown(Unclear::said(doubt, raw)).into();
    Ok(match Reply::read(raw)? {
        Reply::Vend(reply) => match proven(&reply, order, rules, raw) {
            Ok(vend) => Judged {
                outcome: VendOutcome::Vended(Box::new(vend)),
                credit: reply.credit.and_then(|credit| credit.rounded_down(rules.currency)),
            },
            Err(doubt) => unknown(doubt),
        },
        Reply::Fault(fault) => match refusal(&fault, order, rules) {
            Ok(refusal) => VendOutcome::Refused(refusal).into(),
            Err(doubt) => unknown(doubt),
        },
        Reply::TrialVend(_) | Reply::Customer(_) | Reply::Advice(_) => unknown(Doubt::Mismatched),
    })
}

/// What an answer to an enquiry proves about the order.
pub(crate) fn enquiry(
    raw: &[u8],
    call: CallId,
    order: &VendOrder,
    rules: &Rules,
) -> Result<Enquiry, Malformed> {
    let unanswered = |doubt| Enquiry::Unanswered(Unclear::said(doubt, raw));
    Ok(match Reply::read(raw)? {
        Reply::Advice(advice) => remembered(&advice, call, order, rules, raw),
        Reply::Fault(fault) if !answers(fault.request.as_ref(), call) => unanswered(Doubt::Mismatched),
        Reply::Fault(fault) => match fault::about_money(&fault, &rules.fault_texts) {
            Meaning::NoRecord => Enquiry::NoRecord,
            Meaning::StillOpen => Enquiry::StillOpen,
            // The fault refuses the enquiry, not the order.
            Meaning::Refused(_) | Meaning::RepeatedReference | Meaning::Unlisted => {
                unanswered(Doubt::UnlistedFault)
            }
        },
        Reply::Vend(_) | Reply::TrialVend(_) | Reply::Customer(_) => unanswered(Doubt::Mismatched),
    })
}

/// What an answer to a customer check states.
pub(crate) fn customer(
    raw: &[u8],
    call: CallId,
    subscriber: &SubscriberIdentifier,
    rules: &Rules,
) -> Result<Result<Customer, Unanswered>, Malformed> {
    Ok(match Reply::read(raw)? {
        Reply::Customer(reply) => {
            known_customer(&reply, call, subscriber, rules).ok_or(Unanswered::NoAnswer(Doubt::Mismatched))
        }
        Reply::Fault(fault) => Err(unanswered(&fault, call, rules)),
        Reply::Vend(_) | Reply::TrialVend(_) | Reply::Advice(_) => {
            Err(Unanswered::NoAnswer(Doubt::Mismatched))
        }
    })
}

/// The result of a trial vend.
pub(crate) type Rehearsed = Result<Quotation, Untried>;

/// What an answer to a trial vend proves for a quote.
pub(crate) fn quotation(
    raw: &[u8],
    call: CallId,
    sale: &Sale,
    rules: &Rules,
) -> Result<Rehearsed, Malformed> {
    rehearsed(raw, call, sale, rules, |_reply| Ok(()))
}

/// What an answer to a trial vend proves for a trial. It must also have all the tokens that a vend requires, as
/// dummies.
pub(crate) fn trial(raw: &[u8], call: CallId, sale: &Sale, rules: &Rules) -> Result<Rehearsed, Malformed> {
    rehearsed(raw, call, sale, rules, |reply| {
        let owed = dummies(reply).and_then(|dummies| owed(dummies, sale));
        owed.map(drop).map_err(|_bad_tokens| Untried::TokenMissing)
    })
}

/// The first check of a readable reply is for a real token, which means that the gateway may have vended.
fn rehearsed(
    raw: &[u8],
    call: CallId,
    sale: &Sale,
    rules: &Rules,
    proof: impl FnOnce(&SaleReply) -> Result<(), Untried>,
) -> Result<Rehearsed, Malformed> {
    Ok(match Reply::read(raw)? {
        Reply::TrialVend(reply) | Reply::Vend(reply) if holds_more_than_dummies(&reply) => {
            Err(Untried::RealToken)
        }
        Reply::TrialVend(reply) => match quoted(&reply, call, sale, rules) {
            Some(quotation) => proof(&reply).map(|()| quotation),
            None => Err(Doubt::Mismatched.into()),
        },
        Reply::Fault(fault) => Err(unanswered(&fault, call, rules).into()),
        Reply::Vend(_) | Reply::Customer(_) | Reply::Advice(_) => Err(Doubt::Mismatched.into()),
    })
}

fn proven(reply: &SaleReply, order: &VendOrder, rules: &Rules, raw: &[u8]) -> Result<Vend, Doubt> {
    let sale = &order.sale;
    if !answers(reply.request.as_ref(), order.reference.call()) || !is_about(reply, sale) {
        return Err(Doubt::Mismatched);
    }
    let breakdown = breakdown(reply, sale, rules);
    if breakdown.is_none() && !is_tendered_exactly(reply, sale) {
        return Err(Doubt::Mismatched);
    }
    let tokens =
        tokens(reply).and_then(|tokens| owed(tokens, sale)).map_err(|_bad_tokens| Doubt::Mismatched)?;
    Ok(Vend {
        tokens,
        units: units(reply, sale, rules),
        provider_transaction: reply.receipt.clone().unwrap_or_else(|| order.reference.to_string()),
        breakdown,
        subscriber_details: reply.customer.clone(),
        raw_reply: RawReply(raw.to_vec()),
    })
}

/// The tokens. An error if the product requires a token and there is none.
fn owed(tokens: Option<TokenSet>, sale: &Sale) -> Result<Option<TokenSet>, BadTokens> {
    if tokens.is_none() && sale.product.always_has_a_token() { Err(BadTokens) } else { Ok(tokens) }
}

fn refusal(fault: &FaultReply, order: &VendOrder, rules: &Rules) -> Result<Refusal, Doubt> {
    let ours = answers(fault.request.as_ref(), order.reference.call());
    match fault::about_money(fault, &rules.fault_texts) {
        Meaning::Refused(refusal) if ours => Ok(refusal),
        Meaning::Refused(_) => Err(Doubt::Mismatched),
        Meaning::RepeatedReference => Err(Doubt::RepeatedReference),
        Meaning::StillOpen => Err(Doubt::StillOpen),
        Meaning::NoRecord | Meaning::Unlisted => Err(Doubt::UnlistedFault),
    }
}

fn remembered(advice: &AdviceReply, call: CallId, order: &VendOrder, rules: &Rules, raw: &[u8]) -> Enquiry {
    let unanswered = |doubt| Enquiry::Unanswered(Unclear::said(doubt, raw));
    let about_the_order = advice.about.as_ref().is_none_or(|id| id.names(order.reference.call()));
    if !answers(advice.request.as_ref(), call) || !about_the_order {
        return unanswered(Doubt::Mismatched);
    }
    match &advice.last_response {
        LastResponse::Vend(reply) => match proven(reply, order, rules, raw) {
            Ok(vend) => Enquiry::Vended(Box::new(vend)),
            Err(doubt) => unanswered(doubt),
        },
        LastResponse::Fault(fault) => match refusal(fault, order, rules) {
            Ok(refusal) => Enquiry::Refused(refusal),
            Err(Doubt::StillOpen) => Enquiry::StillOpen,
            Err(doubt) => unanswered(doubt),
        },
    }
}

fn known_customer(
    reply: &CustomerReply,
    call: CallId,
    subscriber: &SubscriberIdentifier,
    rules: &Rules,
) -> Option<Customer> {
    if !answers(reply.request.as_ref(), call) {
        return None;
    }
    let is_the_meter =
        |result: &&CustomerResult| result.meter.as_deref().is_none_or(|meter| meter == subscriber.as_str());
    let mut results = reply.results.iter().filter(is_the_meter);
    let (Some(result), None) = (results.next(), results.next()) else {
        return None;
    };
    let limit = |amount: &Option<Amount>| match amount {
        None => Some(None),
        Some(amount) => amount.in_currency(rules.currency).map(Some),
    };
    Some(Customer {
        name: result.name.clone(),
        barred: (result.can_vend == Some(false)).then(|| Refusal::because(RefusalReason::Blocked)),
        minimum: limit(&result.minimum)?,
        maximum: limit(&result.maximum)?,
    })
}

fn quoted(reply: &SaleReply, call: CallId, sale: &Sale, rules: &Rules) -> Option<Quotation> {
    let matches = answers(reply.request.as_ref(), call) && is_about(reply, sale);
    Some(Quotation {
        units: units(reply, sale, rules),
        breakdown: Some(breakdown(reply, sale, rules).filter(|_parts| matches)?),
        subscriber_details: reply.customer.clone(),
    })
}

/// A question moves no money. So a fault without a reference counts as its answer. A fault with another reference does
/// not.
fn unanswered(fault: &FaultReply, call: CallId, rules: &Rules) -> Unanswered {
    if fault.request.as_ref().is_some_and(|id| !id.names(call)) {
        return Unanswered::NoAnswer(Doubt::Mismatched);
    }
    match fault::about_a_question(fault, &rules.fault_texts) {
        Meaning::Refused(refusal) => Unanswered::Refused(refusal),
        Meaning::RepeatedReference => Unanswered::NoAnswer(Doubt::RepeatedReference),
        Meaning::StillOpen => Unanswered::NoAnswer(Doubt::StillOpen),
        Meaning::NoRecord | Meaning::Unlisted => Unanswered::NoAnswer(Doubt::UnlistedFault),
    }
}

fn answers(request: Option<&MessageId>, call: CallId) -> bool {
    request.is_some_and(|id| id.names(call))
}

/// Whether the reply names the ordered meter, and neither another meter nor another product.
fn is_about(reply: &SaleReply, sale: &Sale) -> bool {
    let mut resources = reply.issues().filter_map(|(issue, _key_change)| issue.resource.as_deref());
    is_for_meter(reply, sale) && resources.all(|named| named == resource(sale.product))
}

/// Whether at least one issue names the ordered meter, and none names another.
fn is_for_meter(reply: &SaleReply, sale: &Sale) -> bool {
    let named = reply.issues().flat_map(|(issue, key_change)| {
        [issue.meter.as_deref(), key_change.and_then(|change| change.meter.as_deref())]
    });
    let mut meters = named.flatten().peekable();
    meters.peek().is_some() && meters.all(|meter| meter == sale.subscriber.as_str())
}

/// Whether this protocol can sell the product.
pub(crate) const fn sells(product: Product) -> bool {
    match product {
        Product::Electricity | Product::Water => true,
        Product::Airtime => false,
    }
}

#[cfg(test)]
mod tests;
