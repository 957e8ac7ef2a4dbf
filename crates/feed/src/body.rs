//! The JSON of an event: the only place that writes it.

use chrono::{DateTime, SecondsFormat, Utc};
use serde::Serialize;
use serde_json::Value;

use crate::{EventType, FeedEvent, PurchaseFacts, Subject};

/// An event as integrators read it. It holds no token unless one is given, and it is the same whenever and wherever it is read, except that
/// personal data may be erased.
#[derive(Debug, Serialize)]
pub struct Body<'a> {
    id: String,
    r#type: &'a str,
    occurred_at: String,
    data: Data<'a>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Data<'a> {
    Purchase { purchase: Purchase<'a> },
    Other(&'a Value),
}

#[derive(Debug, Serialize)]
struct Purchase<'a> {
    id: i64,
    reference: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    external_reference: Option<&'a str>,
    /// The status just after the event. It is left out of an event that this program does not know.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
    account_id: i64,
    product_type: &'static str,
    provider_code: &'a str,
    subscriber_identifier: &'a str,
    entry: String,
    entry_minor: i64,
    total: String,
    total_minor: i64,
    /// As confirm gives it. Only for those who asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'a str>,
}

impl FeedEvent {
    /// The event as JSON.
    pub fn body(&self) -> Body<'_> {
        self.body_with_token(None)
    }

    /// The event as JSON, with the token of its purchase, for a receiver who asked for tokens.
    pub fn body_with_token<'a>(&'a self, token: Option<&'a str>) -> Body<'a> {
        let data = match &self.subject {
            Subject::Purchase(facts) => Data::Purchase { purchase: Purchase::of(facts, &self.kind, token) },
            Subject::Other(details) => Data::Other(details),
        };
        Body {
            id: self.position.to_string(),
            r#type: &self.kind,
            occurred_at: moment(self.occurred_at),
            data,
        }
    }
}

impl<'a> Purchase<'a> {
    fn of(facts: &'a PurchaseFacts, kind: &str, token: Option<&'a str>) -> Self {
        Self {
            id: facts.id.0,
            reference: &facts.reference,
            external_reference: facts.external_reference.as_deref(),
            status: EventType::parse(kind).and_then(EventType::status).map(purchase::PurchaseStatus::as_str),
            account_id: facts.account,
            product_type: facts.product.as_str(),
            provider_code: &facts.provider_code,
            subscriber_identifier: &facts.subscriber,
            entry: facts.entry.to_string(),
            entry_minor: facts.entry.minor(),
            total: facts.total.to_string(),
            total_minor: facts.total.minor(),
            token,
        }
    }
}

/// Always UTC and always microseconds, so that an event is the same under any setting.
fn moment(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Micros, true)
}
