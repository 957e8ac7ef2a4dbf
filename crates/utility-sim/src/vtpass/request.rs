//! A client's request, read strictly: this server also tests its clients.

use chrono::{DateTime, FixedOffset, NaiveDateTime, Utc};
use money::{Currency, Money};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Rejection;

/// Nigeria is one hour ahead of UTC, all year.
const SECONDS_EAST: i32 = 60 * 60;

/// The digits of the date, and of the date and the minute, at the begin of a request id.
const DATE: usize = 8;
const MINUTE: usize = 12;

/// The only kind of meter that is sold for.
const PREPAID: &str = "prepaid";

/// A request of the interface.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) keys: Option<Keys>,
    pub(crate) ask: Ask,
}

/// The keys in the head.
#[derive(Debug)]
pub(crate) struct Keys {
    pub(crate) api_key: String,
    pub(crate) secret_key: String,
}

/// The operations of this aggregator.
#[derive(Debug)]
pub(crate) enum Ask {
    /// The customer of a meter.
    Verify(Verification),
    /// A sale.
    Pay(Order),
    /// What became of a sale.
    Requery { request_id: String },
    /// A request that cannot be parsed.
    Unreadable(Rejection),
}

/// A question for the customer of a meter.
#[derive(Debug, Deserialize)]
pub(crate) struct Verification {
    #[serde(rename = "billersCode")]
    pub(super) meter: String,
    #[serde(rename = "serviceID")]
    pub(super) service_id: String,
    r#type: String,
}

/// An order of electricity for a meter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    pub(super) request_id: String,
    pub(super) service_id: String,
    pub(super) meter: String,
    pub(super) amount: Money,
    pub(super) phone: String,
}

#[derive(Deserialize)]
struct WireOrder<'a> {
    request_id: String,
    #[serde(rename = "serviceID")]
    service_id: String,
    #[serde(rename = "billersCode")]
    meter: String,
    variation_code: String,
    /// A string or a number. It is never converted to a float.
    #[serde(borrow)]
    amount: &'a RawValue,
    phone: String,
}

#[derive(Deserialize)]
struct WireRequery {
    request_id: String,
}

impl Verification {
    pub(crate) fn read(body: &[u8]) -> Result<Self, Rejection> {
        let verification: Self = parsed(body)?;
        if verification.r#type == PREPAID { Ok(verification) } else { Err(Rejection::invalid_arguments()) }
    }
}

impl Order {
    /// Reads the body of an order. The amount is in the account's currency.
    pub(crate) fn read(body: &[u8], currency: Currency) -> Result<Self, Rejection> {
        let wire: WireOrder<'_> = parsed(body)?;
        let amount = money::parse_amount(wire.amount.get().trim_matches('"'), currency);
        if wire.variation_code != PREPAID || wire.phone.is_empty() {
            return Err(Rejection::invalid_arguments());
        }
        Ok(Self {
            amount: amount.map_err(|_not_an_amount| Rejection::invalid_arguments())?,
            request_id: wire.request_id,
            service_id: wire.service_id,
            meter: wire.meter,
            phone: wire.phone,
        })
    }

    /// Whether the request id begins with a date and a minute, and with today's date if that is required.
    pub(super) fn has_a_proper_request_id(&self, now: DateTime<Utc>, must_be_today: bool) -> bool {
        let Some(begin) = self.request_id.get(..MINUTE) else { return false };
        let is_a_minute = NaiveDateTime::parse_from_str(&format!("{begin}00"), "%Y%m%d%H%M%S").is_ok();
        let is_alphanumeric = self.request_id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let today = now.with_timezone(&nigeria()).format("%Y%m%d").to_string();
        let is_today = begin.get(..DATE) == Some(today.as_str());
        is_a_minute && is_alphanumeric && (is_today || !must_be_today)
    }
}

/// The request id of an enquiry.
pub(crate) fn request_id(body: &[u8]) -> Result<String, Rejection> {
    parsed(body).map(|WireRequery { request_id }| request_id)
}

/// The time zone of the vendor.
pub(super) fn nigeria() -> FixedOffset {
    FixedOffset::east_opt(SECONDS_EAST).expect("an hour is less than a day")
}

fn parsed<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, Rejection> {
    serde_json::from_slice(body).map_err(|_not_a_request| Rejection::invalid_arguments())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(request_id: &str, amount: &str, kind: &str) -> Result<Order, Rejection> {
        let body = format!(
            r#"{{"request_id": "{request_id}", "serviceID": "ikeja-electric", "billersCode": "07000010012",
                "variation_code": "{kind}", "amount": {amount}, "phone": "08011111111"}}"#
        );
        Order::read(body.as_bytes(), Currency::parse("NGN").unwrap())
    }

    #[test]
    fn an_amount_is_read_exactly_and_only_prepaid_meters_are_sold_for() {
        for amount in ["2000.5", "\"2000.50\""] {
            assert_eq!(read("1", amount, "prepaid").unwrap().amount.minor(), 200_050, "{amount}");
        }
        for (amount, kind) in [("2e3", "prepaid"), ("-1", "prepaid"), ("null", "prepaid"), ("1", "postpaid")]
        {
            assert_eq!(read("1", amount, kind), Err(Rejection::invalid_arguments()), "{amount} {kind}");
        }
    }

    #[test]
    fn a_request_id_begins_with_the_date_in_nigeria() {
        let late = DateTime::parse_from_rfc3339("2026-11-20T23:30:00Z").unwrap().to_utc();
        let proper = |id: &str, must_be_today| {
            read(id, "1", "prepaid").unwrap().has_a_proper_request_id(late, must_be_today)
        };
        assert!(proper("202611210030ad8ef08acd8fc0f", true));
        assert!(!proper("202611202330ad8ef08acd8fc0f", true));
        assert!(proper("202611202330ad8ef08acd8fc0f", false));
        for id in ["", "20261121", "20261121003", "202613210030", "202611210030-a", "ad8ef08acd8fc0f"] {
            assert!(!proper(id, false), "{id}");
        }
    }
}
