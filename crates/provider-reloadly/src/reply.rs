//! The typed content of a reply. `classify` decides what it proves.

use money::{Currency, Money};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::amount::{at_least, at_most, exactly};
use crate::operator::{Operator, Selling};

/// The reply is not a message of the protocol. The error contains no part of the reply, which may have a phone number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the reply is none of the protocol's")]
pub(crate) struct Malformed;

/// The answer to an order.
pub(crate) enum Reply<'a> {
    TopUp(TopUp<'a>),
    Error(ErrorReply),
}

/// The vendor's record of a top-up, in the answer to an order or in a report.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TopUp<'a> {
    pub(crate) status: Status,
    pub(crate) transaction_id: Option<u64>,
    pub(crate) custom_identifier: Option<String>,
    #[serde(borrow)]
    recipient_phone: Option<&'a RawValue>,
    pub(crate) operator_id: Option<u64>,
    #[serde(borrow)]
    requested_amount: Option<&'a RawValue>,
    requested_amount_currency_code: Option<String>,
    #[serde(borrow)]
    delivered_amount: Option<&'a RawValue>,
    delivered_amount_currency_code: Option<String>,
    /// Local time of a zone that the reply does not name.
    #[serde(borrow)]
    pub(crate) transaction_date: Option<&'a RawValue>,
    /// Why the top-up failed. `None` if it did not fail.
    pub(crate) error_code: Option<String>,
    pub(crate) error_message: Option<String>,
}

/// The status of a top-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum Status {
    Successful,
    Processing,
    Failed,
    Refunded,
    #[serde(other)]
    Unheard,
}

/// An error of the vendor.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ErrorReply {
    pub(crate) error_code: Option<String>,
    pub(crate) message: Option<String>,
}

/// A page of a report. An entry that is not read yet is a [`RawValue`].
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Page<Entry> {
    pub(crate) content: Vec<Entry>,
    /// The number of elements on all pages, if the page states it.
    pub(crate) total_elements: Option<u64>,
}

/// The vendor's description of a network.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OperatorReply<'a> {
    operator_id: u64,
    denomination_type: DenominationType,
    supports_local_amounts: bool,
    destination_currency_code: Option<String>,
    #[serde(borrow)]
    local_min_amount: Option<&'a RawValue>,
    #[serde(borrow)]
    local_max_amount: Option<&'a RawValue>,
    #[serde(borrow)]
    local_fixed_amounts: Option<Vec<&'a RawValue>>,
}

/// The balance of our account.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BalanceReply<'a> {
    #[serde(borrow)]
    balance: &'a RawValue,
    currency_code: String,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum DenominationType {
    Fixed,
    Range,
}

impl<'a> Reply<'a> {
    /// Reads a top-up or an error. Each has a field that the other does not have.
    pub(crate) fn read(body: &'a [u8]) -> Result<Self, Malformed> {
        let top_up = serde_json::from_slice(body).map(Self::TopUp);
        top_up.or_else(|_no_top_up| ErrorReply::read(body).map(Self::Error))
    }
}

impl TopUp<'_> {
    /// The phone number as the reply states it, without quotes.
    pub(crate) fn recipient(&self) -> Option<&str> {
        self.recipient_phone.map(|phone| phone.get().trim_matches('"'))
    }

    /// The amount that was charged to our account.
    pub(crate) fn requested(&self) -> Stated {
        Stated::read(self.requested_amount, self.requested_amount_currency_code.as_deref())
    }

    /// The amount that was credited to the phone.
    pub(crate) fn delivered(&self) -> Stated {
        Stated::read(self.delivered_amount, self.delivered_amount_currency_code.as_deref())
    }
}

/// The amount that a reply states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stated {
    Nothing,
    Garbled,
    Amount(Money),
}

impl Stated {
    fn read(amount: Option<&RawValue>, currency: Option<&str>) -> Self {
        let Some(amount) = amount else { return Self::Nothing };
        let currency = currency.and_then(|code| Currency::in_hundredths(code).ok());
        currency.and_then(|currency| exactly(amount, currency)).map_or(Self::Garbled, Self::Amount)
    }
}

impl ErrorReply {
    pub(crate) fn read(body: &[u8]) -> Result<Self, Malformed> {
        let error: Self = serde_json::from_slice(body).map_err(|_not_an_error| Malformed)?;
        if error.error_code.is_some() || error.message.is_some() { Ok(error) } else { Err(Malformed) }
    }
}

/// What names an entry of which the rest cannot be read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Numbered<'a> {
    #[serde(borrow)]
    transaction_id: Option<&'a RawValue>,
}

/// The number of a transaction, as far as it is one.
pub(crate) fn transaction_number(entry: &RawValue) -> Option<String> {
    let entry: Numbered<'_> = serde_json::from_str(entry.get()).ok()?;
    let number = entry.transaction_id?.get().trim_matches('"');
    let is_number =
        !number.is_empty() && number.len() <= 20 && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| number.to_owned())
}

impl<'a, Entry: Deserialize<'a>> Page<Entry> {
    pub(crate) fn read(body: &'a [u8]) -> Result<Self, Malformed> {
        serde_json::from_slice(body).map_err(|_not_a_page| Malformed)
    }
}

/// The balance in a reply. `Ok(None)` if it is in another currency.
pub(crate) fn balance(body: &[u8], currency: Currency) -> Result<Option<Money>, Malformed> {
    let reply: BalanceReply<'_> = serde_json::from_slice(body).map_err(|_no_balance| Malformed)?;
    if reply.currency_code != currency.as_str() {
        return Ok(None);
    }
    at_most(reply.balance, currency).map(Some).ok_or(Malformed)
}

/// The network in a reply. `Ok(None)` if the network has another currency.
pub(crate) fn operator(body: &[u8], currency: Currency) -> Result<Option<Operator>, Malformed> {
    let reply: OperatorReply<'_> = serde_json::from_slice(body).map_err(|_not_an_operator| Malformed)?;
    if reply.destination_currency_code.as_deref().is_some_and(|code| code != currency.as_str()) {
        return Ok(None);
    }
    let limit = |number: Option<&RawValue>, read: fn(&RawValue, Currency) -> Option<Money>| {
        number.map(|number| read(number, currency).ok_or(Malformed)).transpose()
    };
    let selling = match (reply.supports_local_amounts, reply.denomination_type) {
        (false, DenominationType::Fixed | DenominationType::Range) => Selling::Nothing,
        (true, DenominationType::Range) => {
            Selling::range(limit(reply.local_min_amount, at_least)?, limit(reply.local_max_amount, at_most)?)
        }
        (true, DenominationType::Fixed) => {
            let amounts = reply.local_fixed_amounts.unwrap_or_default();
            let exact = |number: &RawValue| exactly(number, currency).ok_or(Malformed);
            Selling::fixed(amounts.into_iter().map(exact).collect::<Result<_, _>>()?)
        }
    };
    Ok(Some(Operator { id: reply.operator_id, selling }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_balance_is_rounded_down_and_of_our_currency_or_none() {
        let pula = Currency::in_hundredths("BWP").unwrap();
        let read = |body: &str| balance(body.as_bytes(), pula).map(|left| left.map(Money::minor));
        assert_eq!(read(r#"{"balance":1000.5099,"currencyCode":"BWP","updatedAt":"x"}"#), Ok(Some(100_050)));
        assert_eq!(read(r#"{"balance":1000,"currencyCode":"USD"}"#), Ok(None));
        for garbled in
            [r#"{"balance":"1000","currencyCode":"BWP"}"#, r#"{"balance":1e3,"currencyCode":"BWP"}"#, "{}"]
        {
            assert_eq!(read(garbled), Err(Malformed), "{garbled}");
        }
    }
}
