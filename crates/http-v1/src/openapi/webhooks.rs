//! The document's part about webhook endpoints.

use serde_json::{Value, json};
use utoipa::openapi::{
    ArrayBuilder, ObjectBuilder, Ref, RefOr, Schema, Type, link::Link, path::Parameter, schema::SchemaFormat,
};
use webhook::DESTINATION_LENGTH_MAX;

use super::{
    bodies::{or_null, with},
    links::with_id,
    parameters::id,
    prose::{Texts, WEBHOOKS},
    responses::{list_of, one},
    texts,
};
use crate::{
    Endpoint, WebhookCall,
    requests::limits::{ENDPOINT_DESCRIPTION_MAX, OVERLAP_HOURS, OVERLAP_HOURS_DEFAULT},
    wire,
};

/// The names and the description of a call.
pub(super) const fn about(call: WebhookCall) -> Texts {
    let (operation_id, summary, description) = match call {
        WebhookCall::List => (
            "listWebhookEndpoints",
            "List webhook endpoints",
            "All of them, the oldest first. A deleted endpoint is not shown. An organisation has at most ten.",
        ),
        WebhookCall::Create => ("createWebhookEndpoint", "Create a webhook endpoint", CREATE),
        WebhookCall::One => (
            "getWebhookEndpoint",
            "One webhook endpoint",
            "The same for one. Another organisation's endpoint does not exist for the caller.",
        ),
        WebhookCall::Update => (
            "updateWebhookEndpoint",
            "Change, pause or resume a webhook endpoint",
            "Only the fields that are sent change. An endpoint that is paused or switched off keeps its place: when its \
             `status` is set to `ACTIVE`, the events since then follow, as far as they are kept.",
        ),
        WebhookCall::RotateSecret => (
            "rotateWebhookSecret",
            "Rotate the keys of a webhook endpoint",
            "Makes a new secret and a new key pair. For `overlap_hours`, messages carry signatures by the old keys, too, so \
             that you can change your receiver without losing one. With `0` the old keys end at once.",
        ),
        WebhookCall::Delete => (
            "deleteWebhookEndpoint",
            "Delete a webhook endpoint",
            "Nothing more is sent to it, except what is already on its way. This is final. The request needs no body.",
        ),
    };
    Texts { operation_id, tag: WEBHOOKS, summary, description }
}

const CREATE: &str = "The service sends the organisation's events to `url`, from now on, as the [Standard \
    Webhooks](https://www.standardwebhooks.com) specification says: a POST with the headers `webhook-id`, \
    `webhook-timestamp` and `webhook-signature`. The answer has the `secret` for the signatures `v1`, once, and the public \
    key for `v1a`.";

/// The name of the body's schema.
pub(super) const fn body_name(call: WebhookCall) -> Option<&'static str> {
    match call {
        WebhookCall::Create => Some("WebhookEndpointRequest"),
        WebhookCall::Update => Some("WebhookEndpointChange"),
        WebhookCall::RotateSecret => Some("RotateSecretRequest"),
        WebhookCall::List | WebhookCall::One | WebhookCall::Delete => None,
    }
}

/// The schemas of the bodies, by name.
pub(super) fn bodies() -> [(&'static str, ObjectBuilder); 3] {
    let description = ObjectBuilder::new().description(Some("The endpoint that is wanted."));
    let create = with(description, "url", url()).property("description", note("Your own note."));
    let change = ObjectBuilder::new().description(Some("What changes.")).property("url", url());
    let change = change.property("description", note("Another note; an empty text removes it."));
    let status = ObjectBuilder::new()
        .schema_type(or_null(Type::String))
        .enum_values(Some([Some("ACTIVE"), Some("PAUSED"), None]))
        .description(Some("`PAUSED`: send nothing. `ACTIVE`: send again, also after it was switched off."));
    let hours = ObjectBuilder::new()
        .schema_type(or_null(Type::Integer))
        .minimum(Some(*OVERLAP_HOURS.start()))
        .maximum(Some(*OVERLAP_HOURS.end()))
        .description(Some(format!(
            "How long the old keys sign, too. Absent is the same as {OVERLAP_HOURS_DEFAULT}."
        )));
    let rotate =
        ObjectBuilder::new().description(Some("How the keys change.")).property("overlap_hours", hours);
    [
        ("WebhookEndpointRequest", chosen(create).examples([wanted()])),
        (
            "WebhookEndpointChange",
            chosen(change).property("status", status).examples([json!({"status": "PAUSED"})]),
        ),
        ("RotateSecretRequest", rotate.examples([json!({"overlap_hours": 24})])),
    ]
}

fn url() -> ObjectBuilder {
    texts::required(
        DESTINATION_LENGTH_MAX,
        "Where events are posted: `https://`, a public address, no user name, no password and no fragment.",
    )
    .format(Some(SchemaFormat::Custom("uri".to_owned())))
}

fn note(description: &str) -> ObjectBuilder {
    texts::optional(ENDPOINT_DESCRIPTION_MAX, description)
}

/// What a new endpoint and a change have in common.
fn chosen(body: ObjectBuilder) -> ObjectBuilder {
    let types = ArrayBuilder::new()
        .items(Ref::from_schema_name("EventTypeName"))
        .description(Some("The types of events that are sent. All types, also future ones, if it is empty."));
    let tokens = ObjectBuilder::new().schema_type(or_null(Type::Boolean)).description(Some(
        "Whether `purchase.succeeded` carries the customer's token. A new endpoint gets none unless it asks.",
    ));
    body.property("event_types", types).property("include_tokens", tokens)
}

/// The schema of a successful answer.
pub(super) fn success(call: WebhookCall) -> RefOr<Schema> {
    match call {
        WebhookCall::List => list_of::<wire::WebhookEndpoint>(),
        WebhookCall::Create | WebhookCall::RotateSecret => one::<wire::WebhookEndpointWithSecret>(),
        WebhookCall::One | WebhookCall::Update => one::<wire::WebhookEndpoint>(),
        WebhookCall::Delete => one::<wire::DeletedWebhookEndpoint>(),
    }
}

/// The parameters in the path.
pub(super) fn parameters(call: WebhookCall) -> Vec<Parameter> {
    match call {
        WebhookCall::List | WebhookCall::Create => Vec::new(),
        WebhookCall::One | WebhookCall::Update | WebhookCall::RotateSecret | WebhookCall::Delete => {
            vec![id("The endpoint.")]
        }
    }
}

/// The links of a successful answer.
pub(super) fn links(call: WebhookCall) -> Vec<(&'static str, Link)> {
    match call {
        WebhookCall::List => {
            vec![("endpoint", with_id(Endpoint::Webhooks(WebhookCall::One), "$response.body#/0/id"))]
        }
        WebhookCall::Create => {
            vec![("endpoint", with_id(Endpoint::Webhooks(WebhookCall::One), "$response.body#/id"))]
        }
        WebhookCall::One | WebhookCall::Update | WebhookCall::RotateSecret | WebhookCall::Delete => {
            Vec::new()
        }
    }
}

/// The name of the example of a successful answer.
pub(super) const fn example_name(call: WebhookCall) -> Option<&'static str> {
    match call {
        WebhookCall::List => Some("webhook_endpoints"),
        WebhookCall::Create | WebhookCall::RotateSecret => Some("new_webhook_endpoint"),
        WebhookCall::One | WebhookCall::Update => Some("webhook_endpoint"),
        WebhookCall::Delete => Some("deleted_webhook_endpoint"),
    }
}

/// The examples of successful answers: name, summary, value.
pub(super) fn examples() -> [(&'static str, &'static str, Value); 4] {
    let mut with_secret = endpoint();
    if let Some(fields) = with_secret.as_object_mut() {
        fields.insert("secret".to_owned(), json!("whsec_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA="));
    }
    [
        ("webhook_endpoints", "The endpoints", json!([endpoint()])),
        ("webhook_endpoint", "An endpoint", endpoint()),
        ("new_webhook_endpoint", "An endpoint with its new secret", with_secret),
        ("deleted_webhook_endpoint", "An endpoint was deleted", json!({"id": 12, "status": "DELETED"})),
    ]
}

fn wanted() -> Value {
    json!({
        "url": "https://till.example/webhooks", "description": "The till",
        "event_types": ["purchase.succeeded", "purchase.failed"], "include_tokens": false,
    })
}

fn endpoint() -> Value {
    json!({
        "id": 12, "url": "https://till.example/webhooks", "description": "The till",
        "event_types": ["purchase.succeeded", "purchase.failed"], "include_tokens": false, "status": "ACTIVE",
        "status_since": "2026-11-20T13:00:00.000000+02:00", "switched_off_because": null,
        "public_keys": ["whpk_ebVWLo/mVPlAeLES6KmLp5AfhTrmlb7X4OORC60ElmQ="],
        "created_at": "2026-11-20T13:00:00.000000+02:00",
    })
}
