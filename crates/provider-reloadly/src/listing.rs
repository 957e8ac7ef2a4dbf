//! The vendor's list of transactions: how it is asked for, and how it is read.

use chrono::{DateTime, NaiveDateTime, TimeZone, Utc};
use chrono_tz::Tz;
use provider_http::HttpReply;
use serde_json::value::RawValue;
use vend::{Doubt, ListedOrder, ListedState, Product, StatementPage, StatementRequest, Unanswered};

use crate::phone::Phone;
use crate::reply::{Malformed, Page, Status, TopUp};
use crate::rules::Rules;

/// How the vendor writes local times.
const MOMENT: &str = "%Y-%m-%d %H:%M:%S";
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
pub(crate) fn page(reply: &HttpReply, rules: &Rules) -> Result<StatementPage, Unanswered> {
    let unreadable = Unanswered::NoAnswer(Doubt::Unreadable);
    let page = Page::read(&reply.body).map_err(|Malformed| unreadable.clone())?;
    let orders = page.content.iter().map(|top_up| order(top_up, rules)).collect::<Option<_>>();
    match (orders, page.total_elements) {
        (Some(orders), Some(orders_in_all)) => Ok(StatementPage { orders, orders_in_all }),
        (Some(_) | None, Some(_) | None) => Err(unreadable),
    }
}

/// `None` if the vendor's identifier or the time is missing.
fn order(top_up: &TopUp<'_>, rules: &Rules) -> Option<ListedOrder> {
    let written = if rules.account_currency == rules.currency {
        top_up.requested_text()
    } else {
        top_up.delivered_text()
    };
    let (amount, currency) = written.unwrap_or_default();
    let written_phone = top_up.recipient().unwrap_or_default();
    Some(ListedOrder {
        reference: top_up.custom_identifier.clone().filter(|reference| !reference.is_empty()),
        transaction: top_up.transaction_id?.to_string(),
        ordered_at: moment(top_up.transaction_date?, rules.report_time_zone)?,
        state: state(top_up.status),
        product: Product::Airtime,
        subscriber: Phone::reported(written_phone, rules.country)
            .map_or_else(|| written_phone.to_owned(), |phone| phone.digits().to_owned()),
        amount: amount.to_owned(),
        currency: currency.to_owned(),
    })
}

const fn state(status: Status) -> ListedState {
    match status {
        Status::Successful => ListedState::Vended,
        Status::Processing => ListedState::StillOpen,
        Status::Failed | Status::Refunded => ListedState::NotVended,
        Status::Unheard => ListedState::Unknown,
    }
}

/// A local time. One that occurs twice, at the end of summer time, is the earlier.
fn moment(written: &RawValue, zone: Tz) -> Option<DateTime<Utc>> {
    let written: &str = serde_json::from_str(written.get()).ok()?;
    let local = NaiveDateTime::parse_from_str(written, MOMENT).ok()?;
    zone.from_local_datetime(&local).earliest().map(|at| at.to_utc())
}
