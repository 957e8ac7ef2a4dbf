//! The vendor's list of transactions: how it is asked for, and how it is read.

use chrono::{DateTime, NaiveDateTime, TimeZone, Utc};
use chrono_tz::Tz;
use provider_http::HttpReply;
use serde_json::value::RawValue;
use vend::{
    Doubt, ListedOrder, ListedSale, ListedState, Product, StatementPage, StatementRequest,
    SubscriberIdentifier, Unanswered, UnreadableOrder,
};

use crate::classify::amount_of_sale;
use crate::phone::Phone;
use crate::reply::{Malformed, Page, Stated, Status, TopUp, transaction_number};
use crate::rules::Rules;

/// How the vendor writes local times.
const MOMENT: &str = "%Y-%m-%d %H:%M:%S";
/// The shortest number that is plausible, with its country code.
const DIGITS_MIN: usize = 7;
/// The largest page that the vendor documents.
const PAGE_SIZE: &str = "200";

/// The query of one page. The vendor writes whole seconds, so an order at the last moment of the period is on the list only if the period
/// ends after it.
pub(crate) fn query(asked: &StatementRequest, zone: Tz) -> [(&'static str, String); 4] {
    let local = |at: DateTime<Utc>| at.with_timezone(&zone).format(MOMENT).to_string();
    [
        ("startDate", local(asked.from)),
        ("endDate", local(asked.until)),
        ("page", asked.page.to_string()),
        ("size", PAGE_SIZE.to_owned()),
    ]
}

/// The orders on a page. A page that does not say how many orders there are on all pages is not one: without that number a missing page
/// would look like the end of the list.
pub(crate) fn page(reply: &HttpReply, rules: &Rules, zone: Tz) -> Result<StatementPage, Unanswered> {
    let unreadable = || Unanswered::NoAnswer(Doubt::Unreadable);
    // Each entry is read by itself, so that one that cannot be read is named.
    let page = Page::<&RawValue>::read(&reply.body).map_err(|Malformed| unreadable())?;
    let orders_in_all = page.total_elements.ok_or_else(unreadable)?;
    let read = |entry: &RawValue| match serde_json::from_str::<TopUp<'_>>(entry.get()) {
        Ok(top_up) => order(&top_up, rules, zone),
        Err(_malformed) => {
            Err(UnreadableOrder { transaction: transaction_number(entry), field: "whole entry" })
        }
    };
    Ok(StatementPage { orders: page.content.into_iter().map(read).collect(), orders_in_all })
}

fn order(top_up: &TopUp<'_>, rules: &Rules, zone: Tz) -> Result<ListedOrder, UnreadableOrder> {
    let transaction = top_up.transaction_id.map(|id| id.to_string());
    let unreadable = |field| UnreadableOrder { transaction: transaction.clone(), field };
    let ordered_at = top_up.transaction_date.and_then(|written| moment(written, zone));
    Ok(ListedOrder {
        transaction: transaction.clone().ok_or_else(|| unreadable("transactionId"))?,
        ordered_at: ordered_at.ok_or_else(|| unreadable("transactionDate"))?,
        state: state(top_up, rules).map_err(unreadable)?,
    })
}

/// The error is the name of the field that cannot be read.
fn state(top_up: &TopUp<'_>, rules: &Rules) -> Result<ListedState, &'static str> {
    match top_up.status {
        // The vendor does not document what a success with an error is.
        Status::Successful if top_up.error_code.is_some() => Err("errorCode"),
        Status::Successful => sale(top_up, rules).map(ListedState::Vended),
        Status::Processing => Ok(ListedState::StillOpen),
        Status::Failed | Status::Refunded => Ok(ListedState::NotVended),
        Status::Unheard => Err("status"),
    }
}

fn sale(top_up: &TopUp<'_>, rules: &Rules) -> Result<ListedSale, &'static str> {
    let amount = match amount_of_sale(top_up, rules) {
        Stated::Amount(amount) if amount.minor() > 0 => amount,
        Stated::Amount(_) | Stated::Nothing | Stated::Garbled => return Err("amount"),
    };
    Ok(ListedSale {
        reference: top_up.custom_identifier.clone(),
        product: Product::Airtime,
        subscriber: top_up.recipient().and_then(|phone| subscriber(phone, rules)).ok_or("recipientPhone")?,
        amount,
    })
}

/// A number of another country, which a person can top up on the vendor's site, keeps its digits. We have sold none, so it matches none.
fn subscriber(phone: &str, rules: &Rules) -> Option<SubscriberIdentifier> {
    if let Some(phone) = Phone::reported(phone, rules.country) {
        return SubscriberIdentifier::parse(phone.digits()).ok();
    }
    let digits: String = phone.chars().filter(|character| !"+-() ".contains(*character)).collect();
    let is_number = digits.len() >= DIGITS_MIN && digits.bytes().all(|byte| byte.is_ascii_digit());
    SubscriberIdentifier::parse(&digits).ok().filter(|_number| is_number)
}

/// A local time. One that occurs twice, at the end of summer time, is the earlier.
fn moment(written: &RawValue, zone: Tz) -> Option<DateTime<Utc>> {
    let written: &str = serde_json::from_str(written.get()).ok()?;
    let local = NaiveDateTime::parse_from_str(written, MOMENT).ok()?;
    zone.from_local_datetime(&local).earliest().map(|at| at.to_utc())
}

#[cfg(test)]
mod tests;
