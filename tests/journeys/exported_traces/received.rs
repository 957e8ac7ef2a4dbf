//! The spans that a receiver got, read strictly as OTLP.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use sha2::{Digest, Sha256};
use test_kit::span_receiver::SpanReceiver;

/// Spans, in the order of their arrival.
#[derive(Debug, Default)]
pub struct Spans(Vec<ReadSpan>);

#[derive(Clone, Debug, PartialEq)]
pub struct ReadSpan {
    pub service: String,
    pub name: String,
    pub trace: String,
    pub id: String,
    pub parent: Option<String>,
    pub kind: u8,
    pub began: u64,
    pub ended: u64,
    attributes: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Request {
    resource_spans: Vec<ResourceSpans>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ResourceSpans {
    resource: Resource,
    scope_spans: Vec<ScopeSpans>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Resource {
    attributes: Vec<KeyValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScopeSpans {
    scope: Scope,
    spans: Vec<Wire>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Scope {
    name: String,
    version: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Wire {
    trace_id: String,
    span_id: String,
    parent_span_id: Option<String>,
    name: String,
    kind: u8,
    start_time_unix_nano: String,
    end_time_unix_nano: String,
    attributes: Vec<KeyValue>,
    status: Status,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Status {
    code: u8,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyValue {
    key: String,
    value: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
enum Value {
    StringValue(String),
    /// A text, as JSON has no integers of 64 bits.
    IntValue(String),
}

/// The id of a purchase's trace, as the documents say: the first half of the SHA-256 of its reference.
pub fn trace_id(reference: &str) -> String {
    hex::encode(Sha256::digest(reference)).chars().take(32).collect()
}

impl Spans {
    pub fn of(receiver: &SpanReceiver) -> Self {
        let mut spans = Vec::new();
        for request in receiver.requests() {
            assert!(request.head.starts_with("POST /v1/traces HTTP/1.1"), "{}", request.head);
            assert!(request.head.contains("content-type: application/json\r\n"), "{}", request.head);
            let read: Request = serde_json::from_slice(&request.body).unwrap();
            for ResourceSpans { resource, scope_spans } in read.resource_spans {
                let service = attributes(resource.attributes)["service.name"].clone();
                for ScopeSpans { scope, spans: wired } in scope_spans {
                    assert!(scope.name == "vendgate" && !scope.version.is_empty());
                    for span in wired.into_iter().map(|wire| ReadSpan::new(&service, wire)) {
                        // What was not acknowledged in time is sent again, and is the same then.
                        if !spans.contains(&span) {
                            spans.push(span);
                        }
                    }
                }
            }
        }
        Self(spans)
    }

    pub fn iter(&self) -> impl Iterator<Item = &ReadSpan> {
        self.0.iter()
    }

    pub const fn len(&self) -> usize {
        self.0.len()
    }

    pub fn has(&self, service: &str, name: &str) -> bool {
        self.iter().any(|span| span.service == service && span.name == name)
    }

    pub fn of_trace(&self, trace: &str) -> Self {
        Self(self.iter().filter(|span| span.trace == trace).cloned().collect())
    }

    /// Ids are hexadecimal and unique, times are in order, and each trace has one root, above which nothing is unknown.
    pub fn are_well_formed(&self) {
        let ids: BTreeSet<&str> = self.iter().map(|span| span.id.as_str()).collect();
        assert_eq!(ids.len(), self.len(), "an id was used twice: {self:?}");
        let traces: BTreeSet<&str> = self.iter().map(|span| span.trace.as_str()).collect();
        for trace in traces {
            let roots = self.iter().filter(|span| span.trace == trace && span.parent.is_none()).count();
            assert_eq!(roots, 1, "the roots of {trace}: {self:?}");
        }
        for span in self.iter() {
            let is_hex = |id: &str, length| {
                id.len() == length && hex::decode(id).is_ok_and(|id| id.iter().any(|byte| *byte > 0))
            };
            assert!(is_hex(&span.trace, 32) && is_hex(&span.id, 16), "{span:?}");
            assert!(span.parent.as_deref().is_none_or(|parent| ids.contains(parent)), "an orphan: {span:?}");
            assert!(span.began <= span.ended && span.began > 1_700_000_000_000_000_000, "{span:?}");
            assert!((1..=5).contains(&span.kind), "{span:?}");
        }
    }
}

impl ReadSpan {
    fn new(service: &str, wire: Wire) -> Self {
        assert!(wire.status.code <= 2, "{}", wire.status.code);
        Self {
            service: service.to_owned(),
            name: wire.name,
            trace: wire.trace_id,
            id: wire.span_id,
            parent: wire.parent_span_id,
            kind: wire.kind,
            began: wire.start_time_unix_nano.parse().unwrap(),
            ended: wire.end_time_unix_nano.parse().unwrap(),
            attributes: attributes(wire.attributes),
        }
    }

    pub fn attribute(&self, key: &str) -> Option<&String> {
        self.attributes.get(key)
    }
}

fn attributes(pairs: Vec<KeyValue>) -> BTreeMap<String, String> {
    let pairs = pairs.into_iter().map(|KeyValue { key, value }| match value {
        Value::StringValue(text) => (key, text),
        Value::IntValue(number) => {
            assert!(number.parse::<i64>().is_ok(), "{key}: {number}");
            (key, number)
        }
    });
    pairs.collect()
}
