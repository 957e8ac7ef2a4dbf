//! OTLP in JSON: the body of a request to a receiver (OpenTelemetry protocol 1.x, `ExportTraceServiceRequest`).
//!
//! In this form ids are hexadecimal, and integers of 64 bits are texts.

use serde::Serialize;

use crate::ids::SpanId;
use crate::span::{Attribute, Name, Span};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Request<'a> {
    resource_spans: [ResourceSpans<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceSpans<'a> {
    resource: Resource<'a>,
    scope_spans: [ScopeSpans; 1],
}

#[derive(Serialize)]
struct Resource<'a> {
    attributes: Vec<KeyValue<'a>>,
}

#[derive(Serialize)]
struct ScopeSpans {
    scope: Scope,
    spans: Vec<WireSpan>,
}

#[derive(Serialize)]
struct Scope {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WireSpan {
    trace_id: String,
    span_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_span_id: Option<String>,
    name: &'static str,
    kind: u8,
    start_time_unix_nano: String,
    end_time_unix_nano: String,
    attributes: Vec<KeyValue<'static>>,
    status: Status,
}

#[derive(Serialize)]
struct Status {
    code: u8,
}

#[derive(Serialize)]
struct KeyValue<'a> {
    key: &'static str,
    value: Value<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Value<'a> {
    StringValue(std::borrow::Cow<'a, str>),
    IntValue(String),
}

const UNSET: u8 = 0;
const ERROR: u8 = 2;

/// The process that sends spans.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Service {
    pub(crate) name: &'static str,
    pub(crate) process: u32,
}

/// The body for these spans. `None` only if they cannot be written, which no span of ours is known to cause.
pub(crate) fn body(service: Service, spans: &[Span]) -> Option<Vec<u8>> {
    let resource = vec![
        text("service.namespace", "vendgate"),
        text("service.name", service.name),
        text("service.version", env!("CARGO_PKG_VERSION")),
        number("process.pid", service.process.into()),
    ];
    let request = Request {
        resource_spans: [ResourceSpans {
            resource: Resource { attributes: resource },
            scope_spans: [ScopeSpans {
                scope: Scope { name: "vendgate", version: env!("CARGO_PKG_VERSION") },
                spans: spans.iter().map(wire).collect(),
            }],
        }],
    };
    serde_json::to_vec(&request).ok()
}

fn wire(span: &Span) -> WireSpan {
    let began = span.began_at.timestamp_nanos_opt().unwrap_or_default();
    let took = i64::try_from(span.took.as_nanos()).unwrap_or(i64::MAX);
    let own = span.end.attributes.iter().map(key_value);
    WireSpan {
        trace_id: span.trace.in_hex(),
        span_id: span.id.in_hex(),
        parent_span_id: span.parent.map(SpanId::in_hex),
        name: span.name.as_str(),
        kind: kind(span.name),
        start_time_unix_nano: began.to_string(),
        end_time_unix_nano: began.saturating_add(took).to_string(),
        attributes: std::iter::once(number("vendgate.purchase", span.purchase)).chain(own).collect(),
        status: Status { code: if span.end.is_error { ERROR } else { UNSET } },
    }
}

/// `SpanKind`: 1 is internal, 2 a server, 3 a client.
const fn kind(name: Name) -> u8 {
    match name {
        Name::Purchase
        | Name::CustomerCheck
        | Name::Reserve
        | Name::LaneWait
        | Name::LaneCommit
        | Name::Record
        | Name::Claim
        | Name::Look => 1,
        Name::Request => 2,
        Name::Send | Name::Enquiry => 3,
    }
}

fn key_value(attribute: &Attribute) -> KeyValue<'static> {
    match attribute {
        Attribute::Route(route) => text("http.route", route.clone()),
        Attribute::Status(status) => number("http.response.status_code", (*status).into()),
        Attribute::Provider(code) => text("vendgate.provider", code.clone()),
        Attribute::Product(word) => text("vendgate.product", *word),
        Attribute::Outcome(word) => text("vendgate.outcome", *word),
        Attribute::Reason(word) => text("vendgate.reason", *word),
        Attribute::Event(word) => text("vendgate.event", *word),
        Attribute::Order(word) => text("vendgate.order", *word),
        Attribute::Fence(fence) => number("vendgate.fence", *fence),
    }
}

fn text<'a>(key: &'static str, value: impl Into<std::borrow::Cow<'a, str>>) -> KeyValue<'a> {
    KeyValue { key, value: Value::StringValue(value.into()) }
}

fn number<'a>(key: &'static str, value: i64) -> KeyValue<'a> {
    KeyValue { key, value: Value::IntValue(value.to_string()) }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use chrono::DateTime;
    use serde_json::{Value, json};

    use super::*;
    use crate::{ids, span::SpanEnd};

    #[test]
    fn a_span_is_written_as_the_protocol_says() {
        let (trace, root) = ids::of_purchase("TOP/2026/03/0000004217");
        let span = Span {
            trace,
            id: ids::SpanId::from_number(0),
            parent: Some(root),
            name: Name::Send,
            began_at: DateTime::from_timestamp(1_795_172_400, 5).unwrap(),
            took: Duration::from_millis(12),
            purchase: 4_217,
            end: SpanEnd::of([Attribute::Provider("BPC".to_owned()), Attribute::Outcome("unknown")])
                .failed_if(true),
        };
        let body = body(Service { name: "api-server", process: 7 }, &[span]).unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap();
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(
            body,
            json!({ "resourceSpans": [{
                "resource": { "attributes": [
                    { "key": "service.namespace", "value": { "stringValue": "vendgate" } },
                    { "key": "service.name", "value": { "stringValue": "api-server" } },
                    { "key": "service.version", "value": { "stringValue": version } },
                    { "key": "process.pid", "value": { "intValue": "7" } },
                ] },
                "scopeSpans": [{
                    "scope": { "name": "vendgate", "version": version },
                    "spans": [{
                        "traceId": trace.in_hex(),
                        "spanId": "0000000000000001",
                        "parentSpanId": root.in_hex(),
                        "name": "provider send",
                        "kind": 3,
                        "startTimeUnixNano": "1795172400000000005",
                        "endTimeUnixNano": "1795172400012000005",
                        "attributes": [
                            { "key": "vendgate.purchase", "value": { "intValue": "4217" } },
                            { "key": "vendgate.provider", "value": { "stringValue": "BPC" } },
                            { "key": "vendgate.outcome", "value": { "stringValue": "unknown" } },
                        ],
                        "status": { "code": 2 },
                    }],
                }],
            }] })
        );
    }
}
