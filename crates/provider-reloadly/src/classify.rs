//! What a reply proves. Pure: the reply, the question and the deployment's rules go in, a verdict comes
//! out. Whatever is not proven is doubt.

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

/// What an order asked for, as a top-up must repeat it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) order: &'a VendOrder,
    pub(crate) phone: &'a Phone,
    /// The network that the order named; whoever enquires later does not know it any more.
    pub(crate) operator: Option<u64>,
}

/// What an answer to an order proves. The body comes before the status: a success that repeats all that we
/// asked for is one under any status. A refusal needs both, as the vendor's errors carry no reference of
/// ours: the exchange says whom they answer, and a status of the 400 class that nothing broke on the way.
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

/// What a report about an order proves. An empty one proves nothing: reports lag behind sales.
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

/// Which network a number belongs to.
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

enum Proof {
    Vended(u64),
    Refused(Refusal),
}

/// What a top-up proves about what was asked. A success must repeat all of it. What failed has less to
/// tell: it must name our reference, and nothing that is not ours.
fn proven(top_up: &TopUp<'_>, asked: Asked<'_>, rules: &Rules) -> Result<Proof, Doubt> {
    let facts = facts(top_up, asked, rules);
    let names_us = facts.reference == Some(true) && !facts.all().contains(&Some(false));
    if !names_us {
        return Err(Doubt::Mismatched);
    }
    match (top_up.status, top_up.transaction_id) {
        (Status::Successful, Some(transaction)) if facts.are_complete() && top_up.error_code.is_none() => {
            Ok(Proof::Vended(transaction))
        }
        (Status::Successful, Some(_) | None) => Err(Doubt::Mismatched),
        (Status::Processing, _) => Err(Doubt::StillOpen),
        (Status::Failed | Status::Refunded, _) => failed(top_up, rules).map(Proof::Refused),
        (Status::Unheard, _) => Err(Doubt::UnlistedFault),
    }
}

/// The vendor debits no failure, and gives back by itself what it calls refunded. But one that failed
/// because our reference was there before is another copy than the one that was.
fn failed(top_up: &TopUp<'_>, rules: &Rules) -> Result<Refusal, Doubt> {
    let reason = match rules.fault_codes.meaning(top_up.error_code.as_deref()) {
        Meaning::Refused(reason) => reason,
        Meaning::Unlisted => RefusalReason::Other,
        Meaning::RepeatedReference => return Err(Doubt::RepeatedReference),
    };
    Ok(worded(reason, top_up.error_code.as_deref(), top_up.error_message.as_deref()))
}

/// What was asked for, and whether the top-up is that; none where it does not say.
struct Facts {
    reference: Option<bool>,
    phone: Option<bool>,
    operator: Option<bool>,
    amount: Option<bool>,
}

impl Facts {
    const fn all(&self) -> [Option<bool>; 4] {
        [self.reference, self.phone, self.operator, self.amount]
    }

    fn are_complete(&self) -> bool {
        self.all().iter().all(|fact| *fact == Some(true))
    }
}

fn facts(top_up: &TopUp<'_>, asked: Asked<'_>, rules: &Rules) -> Facts {
    let reference = asked.order.reference.to_string();
    let phone = |text: &str| Phone::reported(text, rules.country).as_ref() == Some(asked.phone);
    Facts {
        reference: top_up.custom_identifier.as_ref().map(|named| *named == reference),
        phone: top_up.recipient().map(phone),
        operator: match asked.operator {
            Some(operator) => top_up.operator_id.map(|named| named == operator),
            None => Some(true),
        },
        amount: amount(top_up, asked, rules),
    }
}

/// The amount is told twice: as our account was charged, and as the phone was topped up. We ask for the
/// latter; where the account holds the same money, both are one, and less taxes may have been delivered.
fn amount(top_up: &TopUp<'_>, asked: Asked<'_>, rules: &Rules) -> Option<bool> {
    let requested = top_up.requested();
    let told = if rules.account_currency == rules.currency {
        requested
    } else {
        match requested {
            Stated::Amount(charged) if charged.currency() == rules.account_currency => top_up.delivered(),
            Stated::Amount(_) | Stated::Garbled => Stated::Garbled,
            Stated::Nothing => Stated::Nothing,
        }
    };
    match told {
        Stated::Amount(amount) => Some(amount == asked.order.sale.amount),
        Stated::Garbled => Some(false),
        Stated::Nothing => None,
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

/// With the vendor's wording. Code or wording may say more than the table knows: that the refusal is transient.
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
