//! Webhook endpoints on the wire.

use serde::Serialize;
use utoipa::ToSchema;

use web::SharedState;
use webhook::{Endpoint, SigningKeys, SwitchedOff};

use super::moment::Moment;
use crate::schema::values::{EndpointStatus, EventTypeName, SwitchedOffBecause};

/// An address to which events are sent.
#[derive(Debug, Serialize, ToSchema)]
pub struct WebhookEndpoint {
    id: i64,
    /// Where events are posted.
    #[schema(max_length = 2000)]
    url: String,
    /// Your own note.
    #[schema(required)]
    description: Option<String>,
    /// The types of events that are sent. All types, also future ones, if it is empty.
    #[schema(value_type = Vec<EventTypeName>)]
    event_types: Vec<String>,
    /// Whether `purchase.succeeded` carries the customer's token.
    include_tokens: bool,
    #[schema(value_type = EndpointStatus)]
    status: &'static str,
    /// Since when it has this status.
    #[schema(value_type = String, format = DateTime)]
    status_since: Moment,
    /// Why the service sends nothing more, if `status` is `SWITCHED_OFF`.
    #[schema(value_type = Option<SwitchedOffBecause>, required)]
    switched_off_because: Option<&'static str>,
    /// The keys that verify `v1a` signatures, the newest first. Two while a secret is rotated.
    public_keys: Vec<String>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Moment,
}

/// An endpoint with its new secret, which is told once.
#[derive(Debug, Serialize, ToSchema)]
pub struct WebhookEndpointWithSecret {
    #[serde(flatten)]
    endpoint: WebhookEndpoint,
    /// The key that verifies `v1` signatures. Keep it: it is not told again.
    #[schema(pattern = "^whsec_[A-Za-z0-9+/]+={0,2}$")]
    secret: String,
}

/// That an endpoint is deleted.
#[derive(Debug, Serialize, ToSchema)]
pub struct DeletedWebhookEndpoint {
    id: i64,
    /// Always `DELETED`.
    #[schema(pattern = "^DELETED$")]
    status: &'static str,
}

impl WebhookEndpoint {
    /// The endpoint as its organisation reads it.
    pub fn new(endpoint: Endpoint, shared: &SharedState) -> Self {
        let zone = shared.zone();
        let settings = endpoint.settings;
        Self {
            id: endpoint.id.0,
            url: settings.url,
            description: settings.description,
            event_types: settings.event_types,
            include_tokens: settings.include_tokens,
            status: endpoint.status.as_str(),
            status_since: Moment(endpoint.status_since.with_timezone(&zone)),
            switched_off_because: endpoint.status.switched_off_because().map(SwitchedOff::as_str),
            public_keys: endpoint.public_keys,
            created_at: Moment(endpoint.created_at.with_timezone(&zone)),
        }
    }
}

impl WebhookEndpointWithSecret {
    /// The endpoint after it was given these keys.
    pub fn new((endpoint, keys): (Endpoint, SigningKeys), shared: &SharedState) -> Self {
        Self { endpoint: WebhookEndpoint::new(endpoint, shared), secret: keys.secret().to_string() }
    }
}

impl DeletedWebhookEndpoint {
    /// The endpoint of this number.
    pub const fn new(id: webhook::EndpointId) -> Self {
        Self { id: id.0, status: webhook::EndpointStatus::Deleted.as_str() }
    }
}
