//! The form of every answer.

use error_codes::{ErrorCode, Retryable};
use serde_json::{Map, Value};

use crate::{
    checker::{Call, Evidence, Exchange, Invariant, Reply},
    surface::Surface,
};

pub(in crate::checker) const I17: Invariant = Invariant {
    id: "I17",
    sentence: "every answer has a request id, and every error is in the table with its type and status",
    broken_by: answers,
};

/// The tolerance between two readings of one clock, because a server may have been stopped between them.
const NOW_MS: i64 = 60_000;

fn answers(evidence: &Evidence) -> Vec<String> {
    let exchanges = evidence.history.exchanges.iter();
    let replies = exchanges.filter_map(|exchange| Some((exchange, exchange.reply.as_ref()?)));
    replies
        .filter_map(|(exchange, reply)| {
            wrong(exchange, reply).map(|why| format!("{why}: {} {}", reply.status, reply.text))
        })
        .collect()
}

fn wrong(exchange: &Exchange, reply: &Reply) -> Option<&'static str> {
    if reply.request_id.is_none() {
        return Some("an answer without a request id");
    }
    if reply.status == 200 {
        return (!reply.body.is_object()).then_some("an answer that is not an object");
    }
    let Some(code) = ErrorCode::parse(exchange.code()) else { return Some("an unknown code") };
    if !statuses(code, &exchange.call).contains(&reply.status) {
        return Some("not the status of its code");
    }
    if exchange.surface.request_id(&reply.body) != reply.request_id.as_deref() {
        return Some("two request ids");
    }
    let is_whole = match exchange.surface {
        Surface::V1 => is_row_of_the_table(code, &reply.body),
        Surface::Current => is_of_the_frozen_form(code, exchange, &reply.body),
    };
    (!is_whole).then_some("not a row of the table in the form of its surface")
}

/// A failure that is reported later, by retry or to a later confirm under the same key, has a 4xx status.
fn statuses(code: ErrorCode, call: &Call) -> Vec<u16> {
    match call {
        Call::Retry { .. } | Call::Confirm { is_keyed: true, .. } => {
            vec![code.status(), code.status_answered_later()]
        }
        Call::Validate { .. }
        | Call::Confirm { is_keyed: false, .. }
        | Call::Balance { .. }
        | Call::Other => {
            vec![code.status()]
        }
    }
}

fn is_row_of_the_table(code: ErrorCode, body: &Value) -> bool {
    let error = body.get("error").unwrap_or(&Value::Null);
    let retryable = error.get("retryable").and_then(Value::as_bool);
    let is_retryable = match code.retryable() {
        Retryable::Never => retryable == Some(false),
        // A failure that is reported again is final.
        Retryable::Always | Retryable::WhenProviderHinted => retryable.is_some(),
    };
    is_retryable && error.get("type").and_then(Value::as_str) == Some(code.error_type().as_str())
}

/// The error has exactly these five fields.
fn is_of_the_frozen_form(code: ErrorCode, exchange: &Exchange, body: &Value) -> bool {
    let names = ["developer_message", "errors", "response_code", "response_message", "timestamp"];
    let mut fields: Vec<&str> =
        body.as_object().into_iter().flat_map(Map::keys).map(String::as_str).collect();
    fields.sort_unstable();
    let text = |name: &str| body.get(name).and_then(Value::as_str);
    let asked_until = exchange.invoked_at / 1_000 - NOW_MS..=exchange.returned_at / 1_000 + NOW_MS;
    let developer = text("developer_message").and_then(|message| message.strip_prefix(code.as_str()));
    let repeats_the_sentence = |sentence: &Value| Some(sentence) == body.get("response_message");
    fields == names
        && text("response_message").is_some_and(|sentence| !sentence.is_empty())
        && body.get("timestamp").and_then(Value::as_i64).is_some_and(|at| asked_until.contains(&at))
        && developer.is_some_and(|rest| rest.starts_with("; request id "))
        && body
            .get("errors")
            .and_then(Value::as_object)
            .is_some_and(|errors| errors.values().all(repeats_the_sentence))
}
