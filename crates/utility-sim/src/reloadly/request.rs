//! A client's request, read strictly: this server also tests its clients.

use chrono::NaiveDateTime;
use money::{Currency, Money};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Refusal, operator::COUNTRY};
use crate::settings::Password;

/// A request of the interface.
#[derive(Debug)]
pub(crate) struct Request {
    /// After the base of the interface: `/topups`.
    pub(crate) path: String,
    /// The value of `Authorization` after `Bearer`.
    pub(crate) bearer: Option<String>,
    pub(crate) accept: Option<String>,
    pub(crate) ask: Ask,
}

/// The operations of this aggregator.
#[derive(Debug)]
pub(crate) enum Ask {
    /// A request for an access token, or any other request to the authentication service, which needs no token.
    Token(Result<TokenRequest, Refusal>),
    /// The operators of this country.
    Operators { country: String },
    /// The operator of this number.
    Operator { phone: String, country: String },
    /// The balance of the account.
    Balance,
    /// A top-up.
    Buy(VendRequest),
    /// The state of the top-up with this number of the aggregator.
    Status { number: i64 },
    /// A page of the list of top-ups.
    Report { filter: ReportFilter, page: usize, size: usize },
    /// A request that cannot be parsed, or a path that does not exist.
    Unreadable(Refusal),
}

/// Which top-ups a list has.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReportFilter {
    /// Those with this identifier of the client.
    pub(crate) custom_identifier: Option<String>,
    /// Those from this local time on.
    pub(crate) from: Option<NaiveDateTime>,
    /// Those up to this local time, included.
    pub(crate) until: Option<NaiveDateTime>,
}

/// The credentials of a client, and the audience of the token.
#[derive(Debug, Deserialize)]
pub(crate) struct TokenRequest {
    pub(super) client_id: String,
    pub(super) client_secret: Password,
    pub(super) grant_type: String,
    pub(super) audience: String,
}

/// An order of airtime for a telephone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VendRequest {
    pub(crate) custom_identifier: String,
    pub(crate) operator_id: u32,
    pub(crate) amount: Money,
    /// E.164 digits, if the number is valid at all.
    pub(crate) phone: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireOrder<'a> {
    #[serde(borrow)]
    operator_id: &'a RawValue,
    /// A string or a number. It is never converted to a float.
    #[serde(borrow)]
    amount: &'a RawValue,
    custom_identifier: String,
    recipient_phone: WirePhone,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WirePhone {
    country_code: String,
    number: String,
}

impl ReportFilter {
    /// Whether the list has a top-up that was made at this local time.
    pub(super) fn covers(&self, at: NaiveDateTime) -> bool {
        self.from.is_none_or(|from| at >= from) && self.until.is_none_or(|until| at <= until)
    }
}

impl TokenRequest {
    pub(crate) fn read(body: &[u8]) -> Result<Self, Refusal> {
        serde_json::from_slice(body).map_err(|why| Refusal::unreadable(&why))
    }
}

impl VendRequest {
    /// Reads the body of a purchase. Amounts are in the account's currency, which is also the recipient's.
    pub(crate) fn read(body: &[u8], currency: Currency) -> Result<Self, Refusal> {
        let wire: WireOrder<'_> = serde_json::from_slice(body).map_err(|why| Refusal::unreadable(&why))?;
        let operator_id =
            unquoted(wire.operator_id).parse().map_err(|_not_a_number| Refusal::unknown_operator())?;
        let amount = money::parse_amount(unquoted(wire.amount), currency)
            .map_err(|_not_an_amount| Refusal::invalid_amount())?;
        if wire.recipient_phone.country_code != COUNTRY {
            return Err(Refusal::invalid_recipient());
        }
        let phone = without_plus(&wire.recipient_phone.number).to_owned();
        Ok(Self { custom_identifier: wire.custom_identifier, operator_id, amount, phone })
    }
}

/// A number with its dialling code, without a leading plus sign.
pub(crate) fn without_plus(number: &str) -> &str {
    number.strip_prefix('+').unwrap_or(number)
}

fn unquoted(value: &RawValue) -> &str {
    let text = value.get();
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(operator: &str, amount: &str, country: &str, number: &str) -> Result<VendRequest, Refusal> {
        let body = format!(
            r#"{{"operatorId": {operator}, "amount": {amount}, "useLocalAmount": false, "customIdentifier": "a-1",
                "recipientPhone": {{"countryCode": "{country}", "number": "{number}"}}}}"#
        );
        VendRequest::read(body.as_bytes(), Currency::parse("BWP").unwrap())
    }

    #[test]
    fn an_amount_is_read_exactly_whether_quoted_or_not() {
        for amount in [r#""10.10""#, "10.1", "10.1000"] {
            let order = read("641", amount, "BW", "+26771000011").unwrap();
            assert_eq!((order.amount.minor(), order.phone.as_str()), (1_010, "26771000011"));
        }
        for amount in [r#""1e3""#, "10.001", "-5", "0", "null"] {
            assert_eq!(read("641", amount, "BW", "26771000011"), Err(Refusal::invalid_amount()), "{amount}");
        }
    }

    #[test]
    fn what_is_missing_or_foreign_is_refused() {
        assert_eq!(read("641", "10", "ZA", "26771000011"), Err(Refusal::invalid_recipient()));
        assert_eq!(read(r#""x""#, "10", "BW", "26771000011"), Err(Refusal::unknown_operator()));
        let refusal = VendRequest::read(b"{}", Currency::parse("BWP").unwrap()).unwrap_err();
        assert!(refusal.message.contains("operatorId"), "{refusal:?}");
    }
}
