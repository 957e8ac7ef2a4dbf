//! The shape of every answer.

use error_codes::{ErrorCode, Retryable};
use serde_json::Value;

use crate::checker::{Evidence, Law, Reply};

pub(in crate::checker) const I17: Law = Law {
    id: "I17",
    sentence: "every answer has a name, and every error is one of the table, type, status and all",
    broken_by: answers,
};

fn answers(evidence: &Evidence) -> Vec<String> {
    let replies = evidence.history.exchanges.iter().filter_map(|exchange| exchange.reply.as_ref());
    replies
        .filter_map(|reply| wrong(reply).map(|why| format!("{why}: {} {}", reply.status, reply.text)))
        .collect()
}

fn wrong(reply: &Reply) -> Option<&'static str> {
    if reply.request_id.is_none() {
        return Some("an answer without a name");
    }
    if reply.status == 200 {
        return (!reply.body.is_object()).then_some("an answer that is no object");
    }
    let error = reply.body.get("error").unwrap_or(&Value::Null);
    let text = |name: &str| error.get(name).and_then(Value::as_str);
    let Some(code) = text("code").and_then(ErrorCode::parse) else { return Some("an unknown code") };
    let retryable = error.get("retryable").and_then(Value::as_bool);
    let is_retryable = match code.retryable() {
        Retryable::Never => retryable == Some(false),
        // A failure that is told once more is told as final.
        Retryable::Always | Retryable::WhenProviderHinted => retryable.is_some(),
    };
    if text("type") != Some(code.error_type().as_str()) || reply.status != code.status() || !is_retryable {
        return Some("not a row of the table");
    }
    (text("request_id") != reply.request_id.as_deref()).then_some("two names")
}
