//! The document's part about webhook endpoints.

use serde_json::{Value, json};
use utoipa::openapi::{
    ArrayBuilder, ObjectBuilder, Ref, RefOr, Required, Schema, Type,
    link::Link,
    path::{Parameter, ParameterIn},
    schema::SchemaFormat,
};
use webhook::DESTINATION_LENGTH_MAX;

use crate::{
    bodies::{or_null, with},
    links::with_id,
    parameters::{id, parameter},
    prose::{Texts, WEBHOOKS},
    responses::{list_of, one},
    texts,
};
use http_v1::{
    Endpoint, WebhookCall,
    requests::limits::{
        ATTEMPTS_DEFAULT, ATTEMPTS_MAX, ENDPOINT_DESCRIPTION_MAX, OVERLAP_HOURS, OVERLAP_HOURS_DEFAULT,
        SHORT_TEXT_MAX,
    },
    wire,
};

/// The names and the description of a call.
pub(crate) const fn about(call: WebhookCall) -> Texts {
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
        WebhookCall::Test => (
            "testWebhookEndpoint",
            "Send a test",
            "Sends an event of the type `webhook.test`, once, to an endpoint with the status `ACTIVE`. The log of attempts \
             shows what came of it. The request needs no body.",
        ),
        WebhookCall::Redeliver => (
            "redeliverEvents",
            "Send events once more",
            "Sends the event `event_id`, or all events from `from_event_id` to `to_event_id`, once more, with the same \
             `webhook-id`. Only events of the endpoint's types that it was sent already, and that are still kept. At most \
             1000 for one request; `continue_from_event_id` says where to go on.",
        ),
        WebhookCall::Attempts => (
            "listWebhookAttempts",
            "The log of attempts",
            "What came of each attempt to deliver an event, the newest first. Attempts are kept for 30 days.",
        ),
    };
    Texts { operation_id, tag: WEBHOOKS, summary, description }
}

const CREATE: &str = "The service sends the organisation's events to `url`, from now on, as the [Standard \
    Webhooks](https://www.standardwebhooks.com) specification says: a POST with the headers `webhook-id`, \
    `webhook-timestamp` and `webhook-signature`. The body is one `Event`, as in the feed. The answer has the `secret` for the signatures `v1`, once, and the public \
    key for `v1a`.";

/// The name of the body's schema.
pub(crate) const fn body_name(call: WebhookCall) -> Option<&'static str> {
    match call {
        WebhookCall::Create => Some("WebhookEndpointRequest"),
        WebhookCall::Update => Some("WebhookEndpointChange"),
        WebhookCall::RotateSecret => Some("RotateSecretRequest"),
        WebhookCall::Redeliver => Some("RedeliverRequest"),
        WebhookCall::List
        | WebhookCall::One
        | WebhookCall::Delete
        | WebhookCall::Test
        | WebhookCall::Attempts => None,
    }
}

/// The schemas of the bodies, by name.
pub(crate) fn bodies() -> [(&'static str, ObjectBuilder); 4] {
    let description = ObjectBuilder::new().description(Some("The endpoint that is wanted."));
    let create = with(description, "url", url()).property("description", note("Your own note."));
    let change = ObjectBuilder::new().description(Some("What changes.")).property("url", other_url());
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
        ("RedeliverRequest", redeliver().examples([json!({"event_id": EVENT})])),
    ]
}

const EVENT: &str = "evt_1795564568432326_42";

fn redeliver() -> ObjectBuilder {
    let event = |description| texts::optional(SHORT_TEXT_MAX, description);
    ObjectBuilder::new()
        .description(Some("One event, or the first and the last of a range."))
        .property("event_id", event("The only event."))
        .property("from_event_id", event("The first event, without `event_id`."))
        .property("to_event_id", event("The last event, without `event_id`."))
}

fn url() -> ObjectBuilder {
    texts::required(DESTINATION_LENGTH_MAX, URL).format(Some(SchemaFormat::Custom("uri".to_owned())))
}

fn other_url() -> ObjectBuilder {
    texts::optional(DESTINATION_LENGTH_MAX, URL)
}

const URL: &str = "Where events are posted: `https://`, a public address, no user name, no password and no fragment. The sandbox also posts to \
     `http://127.0.0.1`.";

fn note(description: &str) -> ObjectBuilder {
    texts::optional(ENDPOINT_DESCRIPTION_MAX, description)
}

/// What a new endpoint and a change have in common.
fn chosen(body: ObjectBuilder) -> ObjectBuilder {
    let types = ArrayBuilder::new()
        .schema_type(or_null(Type::Array))
        .items(Ref::from_schema_name("EventTypeName"))
        .description(Some("The types of events that are sent. All types, also future ones, if it is empty."));
    let tokens = ObjectBuilder::new().schema_type(or_null(Type::Boolean)).description(Some(
        "Whether `purchase.succeeded` carries the customer's token. A new endpoint gets none unless it asks.",
    ));
    body.property("event_types", types).property("include_tokens", tokens)
}

/// The schema of a successful answer.
pub(crate) fn success(call: WebhookCall) -> RefOr<Schema> {
    match call {
        WebhookCall::List => list_of::<wire::WebhookEndpoint>(),
        WebhookCall::Create | WebhookCall::RotateSecret => one::<wire::WebhookEndpointWithSecret>(),
        WebhookCall::One | WebhookCall::Update => one::<wire::WebhookEndpoint>(),
        WebhookCall::Delete => one::<wire::DeletedWebhookEndpoint>(),
        WebhookCall::Test => one::<wire::WebhookTest>(),
        WebhookCall::Redeliver => one::<wire::Redelivery>(),
        WebhookCall::Attempts => one::<wire::WebhookAttemptPage>(),
    }
}

/// The parameters in the path.
pub(crate) fn parameters(call: WebhookCall) -> Vec<Parameter> {
    match call {
        WebhookCall::List | WebhookCall::Create => Vec::new(),
        WebhookCall::One
        | WebhookCall::Update
        | WebhookCall::RotateSecret
        | WebhookCall::Delete
        | WebhookCall::Test
        | WebhookCall::Redeliver => vec![id("The endpoint.")],
        WebhookCall::Attempts => [vec![id("The endpoint.")], page()].concat(),
    }
}

/// The links of a successful answer.
pub(crate) fn links(call: WebhookCall) -> Vec<(&'static str, Link)> {
    match call {
        WebhookCall::List => {
            vec![("endpoint", with_id(Endpoint::Webhooks(WebhookCall::One), "$response.body#/0/id"))]
        }
        WebhookCall::Create => {
            vec![("endpoint", with_id(Endpoint::Webhooks(WebhookCall::One), "$response.body#/id"))]
        }
        WebhookCall::One
        | WebhookCall::Update
        | WebhookCall::RotateSecret
        | WebhookCall::Delete
        | WebhookCall::Test
        | WebhookCall::Redeliver
        | WebhookCall::Attempts => Vec::new(),
    }
}

/// The name of the example of a successful answer.
pub(crate) const fn example_name(call: WebhookCall) -> &'static str {
    match call {
        WebhookCall::List => "webhook_endpoints",
        WebhookCall::Create | WebhookCall::RotateSecret => "new_webhook_endpoint",
        WebhookCall::One | WebhookCall::Update => "webhook_endpoint",
        WebhookCall::Delete => "deleted_webhook_endpoint",
        WebhookCall::Test => "webhook_test",
        WebhookCall::Redeliver => "redelivery",
        WebhookCall::Attempts => "webhook_attempts",
    }
}

/// The examples of successful answers: name, summary, value.
pub(crate) fn examples() -> [(&'static str, &'static str, Value); 7] {
    let mut with_secret = endpoint();
    if let Some(fields) = with_secret.as_object_mut() {
        fields.insert("secret".to_owned(), json!("whsec_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA="));
    }
    [
        ("webhook_endpoints", "The endpoints", json!([endpoint()])),
        ("webhook_endpoint", "An endpoint", endpoint()),
        ("new_webhook_endpoint", "An endpoint with its new secret", with_secret),
        ("deleted_webhook_endpoint", "An endpoint was deleted", json!({"id": 12, "status": "DELETED"})),
        ("webhook_test", "A test is on its way", json!({"event_id": "evt_test_3"})),
        ("redelivery", "An event is sent again", json!({"events": 1, "continue_from_event_id": null})),
        ("webhook_attempts", "An attempt that failed", attempts()),
    ]
}

fn attempts() -> Value {
    json!({
        "data": [{
            "id": 881, "event_id": EVENT, "event_type": "purchase.succeeded", "attempt": 1,
            "at": "2026-11-20T13:00:01.250000+02:00", "duration_ms": 15_000, "outcome": "RETRY", "http_status": null,
            "no_answer": "TIMED_OUT", "next_attempt_at": "2026-11-20T13:00:22.250000+02:00",
        }],
        "next_cursor": null,
    })
}

/// The parameters of a page of attempts.
fn page() -> Vec<Parameter> {
    let limit = ObjectBuilder::new()
        .schema_type(Type::Integer)
        .minimum(Some(1))
        .maximum(Some(ATTEMPTS_MAX))
        .default(Some(ATTEMPTS_DEFAULT.into()))
        .description(Some("At most so many on a page."));
    let cursor = texts::required(SHORT_TEXT_MAX, "`next_cursor` of the page before.");
    [("cursor", cursor), ("limit", limit)]
        .map(|(name, value)| parameter(name, ParameterIn::Query, Required::False, value))
        .into()
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
