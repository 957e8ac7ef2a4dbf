//! Decides what a reply proves. The functions are pure: they take the reply, the question and the deployment's rules,
//! and return a verdict. Everything that is not proven is doubt.

use money::Money;
use provider_http::HttpReply;
use vend::{
    Doubt, Enquiry, RawReply, Refusal, RefusalReason, Unanswered, Unclear, Vend, VendOrder, VendOutcome,
    one_line,
};

use crate::fault::Meaning;
use crate::operator::Operator;
use crate::phone::Phone;
use crate::reply::{self, ErrorReply, Page, Reply, Stated, Status, TopUp};
use crate::rules::Rules;

/// The order in the form that a top-up must repeat.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) order: &'a VendOrder,
    pub(crate) phone: &'a Phone,
    /// The network that the order named. `None` for an enquiry, which does not know it.
    pub(crate) operator: Option<u64>,
}

/// What an answer to an order proves. The body has priority over the status: a success that repeats the whole order is
/// a vend with any status. A refusal also needs the right status: 400 to 499 for an error, success for a failed top-up.
/// The vendor's errors do not contain our reference, so only the exchange connects them to the order, and the status
/// shows that the vendor itself answered.
pub(crate) fn vend(reply: &HttpReply, asked: Asked<'_>, rules: &Rules) -> VendOutcome {
    let unknown = |doubt| VendOutcome::Unknown(Unclear::said(doubt, &reply.body));
    let read = match Reply::read(&reply.body) {
        Ok(read) => read,
        Err(reply::Malformed) => return unknown(Doubt::Unreadable),
    };
    match read {
        Reply::TopUp(top_up) => match proven(&top_up, asked, rules) {
            Ok(Proof::Vended(transaction)) => VendOutcome::Vended(Box::new(vended(transaction, &reply.body))),
            Ok(Proof::Refused(refusal)) if is_success(reply.status) => VendOutcome::Refused(refusal),
            Ok(Proof::Refused(_)) => unknown(Doubt::UnlistedFault),
            Err(doubt) => unknown(doubt),
        },
        Reply::Error(error) => match rules.fault_codes.meaning(error.error_code.as_deref()) {
            Meaning::Refused(reason) if is_refusal(reply.status) => {
                VendOutcome::Refused(worded(reason, error.error_code.as_deref(), error.message.as_deref()))
            }
            Meaning::RepeatedReference => unknown(Doubt::RepeatedReference),
            Meaning::Refused(_) | Meaning::Unlisted => unknown(Doubt::UnlistedFault),
        },
    }
}

/// What a report about an order proves. An empty report alone proves nothing, because reports lag behind sales.
pub(crate) fn enquiry(reply: &HttpReply, asked: Asked<'_>, rules: &Rules) -> Enquiry {
    let unanswered = |doubt| Enquiry::Unanswered(Unclear::said(doubt, &reply.body));
    if !is_success(reply.status) {
        return unanswered(not_answered(reply));
    }
    let Ok(page) = Page::read(&reply.body) else {
        return unanswered(Doubt::Unreadable);
    };
    let is_whole = page.total_elements.is_none_or(|all| u64::try_from(page.content.len()) == Ok(all));
    match page.content.as_slice() {
        [] if is_whole => Enquiry::NoRecord,
        [top_up] if is_whole => match proven(top_up, asked, rules) {
            Ok(Proof::Vended(transaction)) => Enquiry::Vended(Box::new(vended(transaction, &reply.body))),
            Ok(Proof::Refused(refusal)) => Enquiry::Refused(refusal),
            Err(Doubt::StillOpen) => Enquiry::StillOpen,
            Err(doubt) => unanswered(doubt),
        },
        _ => unanswered(Doubt::Mismatched),
    }
}

/// The network of a number.
pub(crate) fn operator(reply: &HttpReply, rules: &Rules) -> Result<Operator, Unanswered> {
    if is_success(reply.status) {
        return match reply::operator(&reply.body, rules.currency) {
            Ok(Some(operator)) => Ok(operator),
            Ok(None) => Err(refused(RefusalReason::Misconfigured)),
            Err(reply::Malformed) => Err(Unanswered::NoAnswer(Doubt::Unreadable)),
        };
    }
    if matches!(reply.status, 401 | 403) {
        return Err(refused(RefusalReason::Misconfigured));
    }
    let error = ErrorReply::read(&reply.body).ok();
    let meaning = error.as_ref().map(|error| (rules.fault_codes.meaning(error.error_code.as_deref()), error));
    match meaning {
        Some((Meaning::Refused(reason), error)) if is_refusal(reply.status) => {
            Err(Unanswered::Refused(worded(reason, error.error_code.as_deref(), error.message.as_deref())))
        }
        Some(_) | None if reply.status == 404 => Err(refused(RefusalReason::UnknownSubscriber)),
        Some(_) | None => Err(Unanswered::NoAnswer(not_answered(reply))),
    }
}

/// Whether a question about our account was answered.
pub(crate) fn answered(reply: &HttpReply) -> Result<(), Unanswered> {
    match reply.status {
        401 | 403 => Err(refused(RefusalReason::Misconfigured)),
        status if is_success(status) => Ok(()),
        _other => Err(Unanswered::NoAnswer(not_answered(reply))),
    }
}

/// What is left in our account, in its currency and rounded down.
pub(crate) fn balance(reply: &HttpReply, rules: &Rules) -> Result<Money, Unanswered> {
    answered(reply)?;
    match reply::balance(&reply.body, rules.account_currency) {
        Ok(Some(left)) => Ok(left),
        Ok(None) => Err(Unanswered::NoAnswer(Doubt::Mismatched)),
        Err(reply::Malformed) => Err(Unanswered::NoAnswer(Doubt::Unreadable)),
    }
}

enum Proof {
    Vended(u64),
    Refused(Refusal),
}

/// What a top-up proves about the order. A success must repeat the whole order. A failure must have our reference, and
/// must not contradict the order.
fn proven(top_up: &TopUp<'_>, asked: Asked<'_>, rules: &Rules) -> Result<Proof, Doubt> {
    let matches_of = matches_of(top_up, asked, rules);
    let names_us = matches_of.reference == Some(true) && !matches_of.all().contains(&Some(false));
    if !names_us {
        return Err(Doubt::Mismatched);
    }
    match (top_up.status, top_up.transaction_id) {
        (Status::Successful, Some(transaction))
            if matches_of.are_complete() && top_up.error_code.is_none() =>
        {
            Ok(Proof::Vended(transaction))
        }
        (Status::Successful, Some(_) | None) => Err(Doubt::Mismatched),
        (Status::Processing, _) => Err(Doubt::StillOpen),
        (Status::Failed | Status::Refunded, _) => failed(top_up, rules).map(Proof::Refused),
        (Status::Unheard, _) => Err(Doubt::UnlistedFault),
    }
}

/// The vendor does not debit failures, and it pays back refunded top-ups by itself. But a failure because of a repeated
/// reference is about this copy of the order, not about the first one.
fn failed(top_up: &TopUp<'_>, rules: &Rules) -> Result<Refusal, Doubt> {
    let reason = match rules.fault_codes.meaning(top_up.error_code.as_deref()) {
        Meaning::Refused(reason) => reason,
        Meaning::Unlisted => RefusalReason::Other,
        Meaning::RepeatedReference => return Err(Doubt::RepeatedReference),
    };
    Ok(worded(reason, top_up.error_code.as_deref(), top_up.error_message.as_deref()))
}

/// Whether the top-up matches each part of the order. `None` if the top-up does not state the part.
struct Match {
    reference: Option<bool>,
    phone: Option<bool>,
    operator: Option<bool>,
    amount: Option<bool>,
}

impl Match {
    const fn all(&self) -> [Option<bool>; 4] {
        [self.reference, self.phone, self.operator, self.amount]
    }

    fn are_complete(&self) -> bool {
        self.all().iter().all(|part| *part == Some(true))
    }
}

fn matches_of(top_up: &TopUp<'_>, asked: Asked<'_>, rules: &Rules) -> Match {
    let reference = asked.order.reference.to_string();
    let phone = |text: &str| Phone::reported(text, rules.country).as_ref() == Some(asked.phone);
    Match {
        reference: top_up.custom_identifier.as_ref().map(|named| *named == reference),
        phone: top_up.recipient().map(phone),
        operator: match asked.operator {
            Some(operator) => top_up.operator_id.map(|named| named == operator),
            None => Some(true),
        },
        amount: amount(top_up, asked, rules),
    }
}

fn amount(top_up: &TopUp<'_>, asked: Asked<'_>, rules: &Rules) -> Option<bool> {
    match amount_of_sale(top_up, rules) {
        Stated::Amount(amount) => Some(amount == asked.order.sale.amount),
        Stated::Garbled => Some(false),
        Stated::Nothing => None,
    }
}

/// A top-up states two amounts: the charge to our account and the credit of the phone. The order asks for the credit.
/// If the account has the same currency, the charge is the amount instead, because taxes may reduce the stated credit.
pub(crate) fn amount_of_sale(top_up: &TopUp<'_>, rules: &Rules) -> Stated {
    let requested = top_up.requested();
    if rules.account_currency == rules.currency {
        return requested;
    }
    match requested {
        Stated::Amount(charged) if charged.currency() == rules.account_currency => top_up.delivered(),
        Stated::Amount(_) | Stated::Garbled => Stated::Garbled,
        Stated::Nothing => Stated::Nothing,
    }
}

fn vended(transaction: u64, raw: &[u8]) -> Vend {
    Vend {
        tokens: None,
        units: None,
        provider_transaction: transaction.to_string(),
        breakdown: None,
        subscriber_details: None,
        raw_reply: RawReply(raw.to_vec()),
    }
}

fn not_answered(reply: &HttpReply) -> Doubt {
    match ErrorReply::read(&reply.body) {
        Ok(_error) => Doubt::UnlistedFault,
        Err(reply::Malformed) => Doubt::Unreadable,
    }
}

/// A refusal with the vendor's wording. The code or the wording may add that the refusal is transient.
fn worded(reason: RefusalReason, code: Option<&str>, message: Option<&str>) -> Refusal {
    let reason = [code, message].into_iter().flatten().fold(reason, RefusalReason::refined_by);
    Refusal { reason, wording: message.and_then(one_line) }
}

const fn refused(reason: RefusalReason) -> Unanswered {
    Unanswered::Refused(Refusal::because(reason))
}

fn is_success(status: u16) -> bool {
    (200..300).contains(&status)
}

fn is_refusal(status: u16) -> bool {
    (400..500).contains(&status)
}

#[cfg(test)]
mod tests;
