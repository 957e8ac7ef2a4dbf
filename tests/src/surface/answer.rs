//! Where each surface shows each value: the same questions to the body of either answer.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Surface;

/// What both surfaces show of a purchase, as JSON pointers of the versioned surface.
pub const SHOWN_BY_BOTH: [&str; 28] = [
    "/id",
    "/channel",
    "/status",
    "/type",
    "/reference",
    "/operator",
    "/requester",
    "/payer",
    "/beneficiary/id",
    "/beneficiary/full_name",
    "/beneficiary/phone_number",
    "/beneficiary/status",
    "/total",
    "/net",
    "/charge",
    "/commission",
    "/entry",
    "/subscriber_identifier",
    "/subscriber_details",
    "/product/token",
    "/product/units",
    "/metadata/vat",
    "/metadata/levy",
    "/metadata/regulatory_fee",
    "/metadata/charge",
    "/metadata/cost",
    "/metadata/provider_subscriber_details",
    "/metadata/provider_transaction_identifier",
];

impl Surface {
    /// Translates a JSON pointer of the versioned surface into a pointer of this surface.
    pub fn place(self, versioned: &str) -> &str {
        match (self, versioned) {
            (Self::Current, "/subscriber_identifier") => "/meter_number",
            (Self::Current, "/subscriber_details") => "/meter_details",
            (Self::Current, "/product/token") => "/token",
            (Self::Current, "/product/units") => "/electricity_units",
            (Self::Current, "/metadata/provider_subscriber_details") => "/metadata/provider_meter_details",
            (Self::Current, "/error/code") => "/response_code",
            (Self::Current, "/error/message") => "/response_message",
            (Self::V1 | Self::Current, same) => same,
        }
    }

    /// The values of a purchase that both surfaces show, by the JSON pointer of the versioned surface.
    pub fn shown(self, body: &Value) -> BTreeMap<&'static str, &Value> {
        let shown =
            SHOWN_BY_BOTH.into_iter().filter_map(|name| Some((name, body.pointer(self.place(name))?)));
        // If the provider does not name the consumer, one surface omits the name and the other shows an empty name.
        shown.filter(|(_, value)| value.as_str() != Some("")).collect()
    }

    /// The token of a purchase as the answer shows it.
    pub fn token(self, body: &Value) -> Option<&str> {
        self.text(body, "/product/token")
    }

    /// The tokens in the order of entry, each with its description if it has one.
    pub fn tokens(self, body: &Value) -> Vec<(Option<&str>, &str)> {
        let pairs = self.token(body).into_iter().flat_map(|wire| wire.split('|'));
        pairs
            .map(|pair| pair.split_once(':').map_or((None, pair), |(name, token)| (Some(name), token.trim())))
            .collect()
    }

    /// The balance of one account, in an answer of [`Surface::balances`].
    pub fn balance(self, body: &Value, account: i64) -> Option<&str> {
        let shown = match self {
            Self::V1 => body,
            Self::Current => {
                let mut accounts = body.get("accounts")?.as_array()?.iter();
                accounts.find(|shown| shown.get("id") == Some(&account.into()))?
            }
        };
        shown.get("balance")?.as_str()
    }

    /// The stable code of an error.
    pub fn code(self, body: &Value) -> Option<&str> {
        self.text(body, "/error/code")
    }

    /// The message of an error.
    pub fn message(self, body: &Value) -> Option<&str> {
        self.text(body, "/error/message")
    }

    /// The field that an error is about. The versioned surface has it in `param`. The Current surface has it as the
    /// key of the message.
    pub fn param(self, body: &Value) -> Option<&str> {
        match self {
            Self::V1 => self.text(body, "/error/param"),
            Self::Current => body.get("errors")?.as_object()?.keys().next().map(String::as_str),
        }
    }

    /// The request id that an error repeats.
    pub fn request_id(self, body: &Value) -> Option<&str> {
        match self {
            Self::V1 => self.text(body, "/error/request_id"),
            Self::Current => {
                let (_code, name) = self.text(body, "/developer_message")?.split_once("; request id ")?;
                Some(name)
            }
        }
    }

    fn text<'a>(self, body: &'a Value, versioned: &str) -> Option<&'a str> {
        body.pointer(self.place(versioned)).and_then(Value::as_str)
    }
}
