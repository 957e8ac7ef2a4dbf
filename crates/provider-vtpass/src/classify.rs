//! Decides what a reply proves about an order. The functions are pure: they take the reply, the order and the rules, and
//! return a verdict. Everything that is not proven is doubt.

use provider_http::HttpReply;
use vend::{
    Doubt, Enquiry, RawReply, Refusal, RefusalReason, Unclear, Vend, VendOrder, VendOutcome, one_line,
};

use crate::codes::{Meaning, meaning};
use crate::customer::name;
use crate::reply::{self, Fields, Reply, Stated};
use crate::rules::Rules;
use crate::tokens::tokens;
use crate::units::units;

/// The order, and its reference in the vendor's form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) order: &'a VendOrder,
    pub(crate) request_id: &'a str,
}

/// What an answer to an order proves. A vend and a refusal need our own request id. A refusal without it counts only if the
/// operator has listed its code.
pub(crate) fn vend(reply: &HttpReply, asked: Asked<'_>, rules: &Rules) -> VendOutcome {
    match proven(reply, asked, rules) {
        Ok(Proof::Vended(vend)) => VendOutcome::Vended(vend),
        Ok(Proof::Refused(refusal)) => VendOutcome::Refused(refusal),
        // The answer to an enquiry, not to an order.
        Ok(Proof::NoRecord) => VendOutcome::Unknown(Unclear::said(Doubt::UnlistedFault, &reply.body)),
        Err(Doubtful { refused: Some((code, refusal)), .. })
            if is_success(reply.status) && rules.refuses_without_request_id(&code) =>
        {
            VendOutcome::Refused(refusal)
        }
        Err(Doubtful { doubt, .. }) => VendOutcome::Unknown(Unclear::said(doubt, &reply.body)),
    }
}

/// What an answer to an enquiry proves. A refusal without our request id may refuse the enquiry itself.
pub(crate) fn enquiry(reply: &HttpReply, asked: Asked<'_>, rules: &Rules) -> Enquiry {
    match proven(reply, asked, rules) {
        Ok(Proof::Vended(vend)) => Enquiry::Vended(vend),
        Ok(Proof::Refused(refusal)) => Enquiry::Refused(refusal),
        Ok(Proof::NoRecord) => Enquiry::NoRecord,
        Err(Doubtful { doubt: Doubt::StillOpen, .. }) => Enquiry::StillOpen,
        Err(Doubtful { doubt, .. }) => Enquiry::Unanswered(Unclear::said(doubt, &reply.body)),
    }
}

enum Proof {
    Vended(Box<Vend>),
    Refused(Refusal),
    NoRecord,
}

/// Why an answer proves nothing.
struct Doubtful {
    doubt: Doubt,
    /// The code and the refusal of an answer that lacks nothing but our request id.
    refused: Option<(String, Refusal)>,
}

impl From<Doubt> for Doubtful {
    fn from(doubt: Doubt) -> Self {
        Self { doubt, refused: None }
    }
}

fn proven(reply: &HttpReply, asked: Asked<'_>, rules: &Rules) -> Result<Proof, Doubtful> {
    let read = Reply::read(&reply.body).map_err(|reply::Malformed| Doubt::Unreadable)?;
    let names_us = read.request_id().map(|named| named == asked.request_id);
    if names_us == Some(false) {
        return Err(Doubt::Mismatched.into());
    }
    match meaning(&read.code) {
        Meaning::Processed if names_us.is_some() => processed(&read, reply, asked, rules),
        Meaning::Processed => Err(Doubt::Mismatched.into()),
        Meaning::Refused(reason) => refused(&read, reply.status, reason, names_us.is_some()),
        Meaning::UnknownRequestId if is_success(reply.status) => Ok(Proof::NoRecord),
        Meaning::UnderWay => Err(Doubt::StillOpen.into()),
        Meaning::RepeatedRequestId => Err(Doubt::RepeatedReference.into()),
        Meaning::UnknownRequestId | Meaning::Unlisted => Err(Doubt::UnlistedFault.into()),
    }
}

/// The vendor's page of response codes lists three states of a processed transaction. Every other one is doubt.
fn processed(
    read: &Reply<'_>,
    reply: &HttpReply,
    asked: Asked<'_>,
    rules: &Rules,
) -> Result<Proof, Doubtful> {
    let transaction = read.transaction();
    match transaction.text(&["status"]).as_deref() {
        Some("delivered") => {
            let vend = delivered(read, &transaction, reply, asked, rules);
            vend.map(|vend| Proof::Vended(Box::new(vend))).ok_or_else(|| Doubt::Mismatched.into())
        }
        Some("initiated" | "pending") => Err(Doubt::StillOpen.into()),
        Some(_) => Err(Doubt::UnlistedFault.into()),
        None => Err(Doubt::Mismatched.into()),
    }
}

/// The vend, if the answer repeats the whole order and has its tokens.
fn delivered(
    read: &Reply<'_>,
    transaction: &Fields<'_>,
    reply: &HttpReply,
    asked: Asked<'_>,
    rules: &Rules,
) -> Option<Vend> {
    let sale = &asked.order.sale;
    let is_for_the_meter = transaction.text(&["unique_element"])? == sale.subscriber.as_str();
    let ours = Stated::Amount(sale.amount);
    // The transaction must state the amount, and the reply around it must not state another one.
    let around = read.fields.amount(&["amount"], rules.currency);
    let repeats_the_amount = transaction.amount(&["amount"], rules.currency) == ours
        && (around == ours || around == Stated::Nothing);
    if !is_for_the_meter || !repeats_the_amount {
        return None;
    }
    Some(Vend {
        tokens: Some(tokens(&read.fields).ok()?),
        units: units(&read.fields, &rules.electricity_unit),
        provider_transaction: transaction.text(&["transactionId"])?,
        // The distribution companies state different parts in different fields, and no document says what they add up to.
        breakdown: None,
        subscriber_details: name(&read.fields),
        raw_reply: RawReply(reply.body.clone()),
    })
}

/// A refusal, unless the answer has another status of its own or says that the transaction was not refused.
fn refused(read: &Reply<'_>, status: u16, reason: RefusalReason, names_us: bool) -> Result<Proof, Doubtful> {
    let transaction = read.transaction().text(&["status"]);
    let contradicts = transaction.is_some_and(|status| status != "failed");
    if contradicts || !is_success(status) {
        return Err(Doubt::UnlistedFault.into());
    }
    let refusal = worded(read, reason);
    if names_us {
        Ok(Proof::Refused(refusal))
    } else {
        Err(Doubtful { doubt: Doubt::UnlistedFault, refused: Some((read.code.clone(), refusal)) })
    }
}

/// A refusal with the vendor's wording, which may add that the refusal is transient.
pub(crate) fn worded(read: &Reply<'_>, reason: RefusalReason) -> Refusal {
    let said = read.description();
    let reason = said.as_deref().map_or(reason, |said| reason.refined_by(said));
    Refusal { reason, wording: said.as_deref().and_then(one_line) }
}

pub(crate) fn is_success(status: u16) -> bool {
    (200..300).contains(&status)
}

#[cfg(test)]
mod tests;
