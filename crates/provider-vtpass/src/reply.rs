//! The fields of a reply. The distribution companies spell them in different ways, so a field is asked for by all its
//! names. `classify` and `customer` decide what a reply proves.

use std::collections::BTreeMap;

use money::{Currency, Money};
use serde_json::value::RawValue;

/// The reply is not a message of the protocol. The error contains no part of the reply, which may have a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the reply is none of the protocol's")]
pub(crate) struct Malformed;

/// The fields of a JSON object. Numbers keep their digits.
#[derive(Debug, Default)]
pub(crate) struct Fields<'a>(BTreeMap<String, &'a RawValue>);

/// The amount that a reply states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stated {
    Nothing,
    /// It is no exact amount.
    Garbled,
    Amount(Money),
}

/// A reply, and its code.
#[derive(Debug)]
pub(crate) struct Reply<'a> {
    pub(crate) code: String,
    pub(crate) fields: Fields<'a>,
}

impl<'a> Reply<'a> {
    /// Reads a reply. Every reply has a code.
    pub(crate) fn read(body: &'a [u8]) -> Result<Self, Malformed> {
        let fields = Fields(serde_json::from_slice(body).map_err(|_not_an_object| Malformed)?);
        let code = fields.text(&["code"]).ok_or(Malformed)?;
        Ok(Self { code, fields })
    }

    /// The vendor's sentence about the code.
    pub(crate) fn description(&self) -> Option<String> {
        self.fields.text(&["response_description"])
    }

    /// The request id of the transaction, if the reply has one.
    pub(crate) fn request_id(&self) -> Option<String> {
        self.fields.text(&["requestId"])
    }

    /// What the reply is about: the customer, or the transaction. Empty if there is none.
    pub(crate) fn content(&self) -> Fields<'a> {
        self.fields.object("content")
    }

    /// The transaction. Empty if there is none.
    pub(crate) fn transaction(&self) -> Fields<'a> {
        self.content().object("transactions")
    }
}

impl Fields<'_> {
    /// The first of these fields that has a text or a number. The vendor writes `N/A` or nothing where it has no value.
    pub(crate) fn text(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| self.0.get(*name).and_then(|value| text(value)))
    }

    /// The amount in one of these fields: a number, or a text with a number.
    pub(crate) fn amount(&self, names: &[&str], currency: Currency) -> Stated {
        let Some(text) = self.text(names) else { return Stated::Nothing };
        money::parse_amount(&text, currency).map_or(Stated::Garbled, Stated::Amount)
    }

    /// Whether the field is `true`.
    pub(crate) fn is_true(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|value| value.get() == "true")
    }

    fn object(&self, name: &str) -> Self {
        let inner = self.0.get(name).and_then(|value| serde_json::from_str(value.get()).ok());
        Self(inner.unwrap_or_default())
    }
}

fn text(value: &RawValue) -> Option<String> {
    let raw = value.get();
    let text = match raw.bytes().next()? {
        b'"' => serde_json::from_str(raw).ok()?,
        b'-' | b'0'..=b'9' => raw.to_owned(),
        _ => return None,
    };
    let text: &str = text.trim();
    (!text.is_empty() && !text.eq_ignore_ascii_case("N/A")).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn naira() -> Currency {
        Currency::parse("NGN").unwrap()
    }

    fn amount(json: &str) -> Stated {
        let body = format!(r#"{{"code":"000","amount":{json}}}"#);
        Reply::read(body.as_bytes()).unwrap().fields.amount(&["amount"], naira())
    }

    #[test]
    fn an_amount_is_a_number_or_a_text_and_exact_or_nothing() {
        for json in ["2000", "\"2000\"", "\"2000.00\"", "2000.0000"] {
            assert_eq!(amount(json), Stated::Amount(Money::from_minor(200_000, naira())), "{json}");
        }
        for json in ["2e3", "\"2,000\"", "\"NGN 2000\"", "2000.001", "-2000", "0"] {
            assert_eq!(amount(json), Stated::Garbled, "{json}");
        }
        for json in ["null", "\"\"", "\"N/A\"", "true", "{}", "[2000]"] {
            assert_eq!(amount(json), Stated::Nothing, "{json}");
        }
    }

    #[test]
    fn a_reply_without_a_code_is_none() {
        for body in ["", "{}", "[]", "null", "000", r#"{"code":null}"#, r#"{"code":""}"#, r#"{"code":"000""#]
        {
            assert_eq!(Reply::read(body.as_bytes()).map(|reply| reply.code), Err(Malformed), "{body}");
        }
    }

    #[test]
    fn content_of_another_kind_is_no_content() {
        let reply = Reply::read(br#"{"code":"014","content":{"errors":[]}}"#).unwrap();
        assert_eq!(reply.transaction().text(&["status"]), None);
        let reply = Reply::read(br#"{"code":"014","content":"none"}"#).unwrap();
        assert_eq!(reply.transaction().text(&["status"]), None);
    }
}
