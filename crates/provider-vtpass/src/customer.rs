//! Decides what the answer to a customer check says. It has no request id, only the meter.

use money::Money;
use provider_http::HttpReply;
use vend::{Customer, Doubt, Refusal, RefusalReason, Sale, SubscriberIdentifier, Unanswered, one_line};

use crate::classify::{is_success, worded};
use crate::codes::{Meaning, meaning};
use crate::reply::{self, Fields, Reply, Stated};
use crate::rules::Rules;

/// The spellings of each field by the distribution companies.
const METER: [&str; 2] = ["Meter_Number", "MeterNumber"];
const NAME: [&str; 4] = ["Customer_Name", "customerName", "CustomerName", "Name"];
const MINIMUM: [&str; 3] = ["Min_Purchase_Amount", "Minimum_Purchase_Amount", "Minimum_Amount"];
const MAXIMUM: [&str; 3] = ["MAX_Purchase_Amount", "Max_Purchase_Amount", "Maximum_Amount"];

/// The customer of a meter.
pub(crate) fn customer(
    reply: &HttpReply,
    meter: &SubscriberIdentifier,
    rules: &Rules,
) -> Result<Customer, Unanswered> {
    let read =
        Reply::read(&reply.body).map_err(|reply::Malformed| Unanswered::NoAnswer(Doubt::Unreadable))?;
    if !is_success(reply.status) {
        return Err(Unanswered::NoAnswer(Doubt::UnlistedFault));
    }
    match meaning(&read.code) {
        Meaning::Processed => known(&read.content(), meter, rules),
        Meaning::Refused(reason) => Err(Unanswered::Refused(worded(&read, reason))),
        Meaning::UnderWay | Meaning::RepeatedRequestId | Meaning::UnknownRequestId | Meaning::Unlisted => {
            Err(Unanswered::NoAnswer(Doubt::UnlistedFault))
        }
    }
}

/// Whether the customer may buy this amount.
pub(crate) fn admit(customer: &Customer, sale: &Sale) -> Result<(), Refusal> {
    if let Some(refusal) = &customer.barred {
        return Err(refusal.clone());
    }
    let amount = sale.amount.minor();
    if customer.minimum.is_some_and(|minimum| amount < minimum.minor()) {
        return Err(Refusal::because(RefusalReason::BelowMinimum));
    }
    if customer.maximum.is_some_and(|maximum| amount > maximum.minor()) {
        return Err(Refusal::because(RefusalReason::AboveMaximum));
    }
    Ok(())
}

/// The consumer's name as the vendor has it.
pub(crate) fn name(fields: &Fields<'_>) -> Option<String> {
    fields.text(&NAME).as_deref().and_then(one_line)
}

fn known(content: &Fields<'_>, meter: &SubscriberIdentifier, rules: &Rules) -> Result<Customer, Unanswered> {
    let error = content.text(&["error"]);
    if error.is_some() || content.is_true("WrongBillersCode") {
        let wording = error.as_deref().and_then(one_line);
        let said = wording.as_deref().unwrap_or_default();
        let reason = RefusalReason::UnknownSubscriber.refined_by(said);
        return Err(Unanswered::Refused(Refusal { reason, wording }));
    }
    let is_of_another = content.text(&METER).is_some_and(|named| named != meter.as_str());
    if is_of_another && rules.meter_number_is_compared {
        return Err(Unanswered::NoAnswer(Doubt::Mismatched));
    }
    let Some(name) = name(content) else { return Err(Unanswered::NoAnswer(Doubt::Mismatched)) };
    Ok(Customer {
        name: Some(name),
        barred: barred(content),
        minimum: limit(content, &MINIMUM, rules),
        maximum: limit(content, &MAXIMUM, rules),
    })
}

fn barred(content: &Fields<'_>) -> Option<Refusal> {
    let is = |field, value: &str| {
        content.text(&[field]).is_some_and(|stated: String| stated.eq_ignore_ascii_case(value))
    };
    if is("Can_Vend", "no") {
        Some(Refusal::because(RefusalReason::Blocked))
    } else if is("Meter_Type", "postpaid") {
        Some(Refusal::because(RefusalReason::Unsupported))
    } else {
        None
    }
}

/// A limit that cannot be read is none: the vendor refuses what it does not sell.
fn limit(content: &Fields<'_>, names: &[&str], rules: &Rules) -> Option<Money> {
    match content.amount(names, rules.currency) {
        Stated::Amount(limit) => Some(limit),
        Stated::Garbled | Stated::Nothing => None,
    }
}
