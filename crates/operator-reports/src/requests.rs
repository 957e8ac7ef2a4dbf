//! How a request is shown: exactly what would be done, and what became of it.

pub mod about;

use back_office::ApprovalRequest;
use purchase::PurchaseId;
use serde::Serialize;
use serde_json::Value;

use crate::{
    error::VendctlError,
    report::{Row, instant, or_dash, plain},
    session::Session,
};

/// The maximum number of waiting requests that are looked at.
const WAITING_MAX: u32 = 1_000;

#[derive(Serialize)]
pub struct View {
    request: i64,
    act: String,
    arguments: Value,
    reason: String,
    token_sha256: Option<String>,
    role: &'static str,
    requested_by: String,
    requested_at: String,
    expires_at: String,
    status: &'static str,
    decided_by: Option<String>,
    decided_at: Option<String>,
    decided_because: Option<String>,
}

impl From<&ApprovalRequest> for View {
    fn from(request: &ApprovalRequest) -> Self {
        let decision = request.decision.as_ref();
        let status = match decision {
            Some(decision) if decision.is_approved => "APPROVED",
            Some(_) => "REJECTED",
            None if request.has_expired => "EXPIRED",
            None => "WAITING",
        };
        Self {
            request: request.id,
            act: request.kind.code().to_owned(),
            arguments: request.arguments.clone(),
            reason: request.reason.clone(),
            token_sha256: request.token_sha256.as_ref().map(hex::encode),
            role: request.kind.role().word(),
            requested_by: request.requested_by.clone(),
            requested_at: instant(request.requested_at),
            expires_at: instant(request.expires_at),
            status,
            decided_by: decision.map(|decision| decision.by.clone()),
            decided_at: decision.map(|decision| instant(decision.at)),
            decided_because: decision.map(|decision| decision.reason.clone()),
        }
    }
}

/// The requests that wait. They are few.
pub async fn waiting(session: &Session) -> Result<Vec<ApprovalRequest>, VendctlError> {
    Ok(back_office::list_requests(session.database(), false, None, WAITING_MAX).await?)
}

/// The purchase that a request decides, if it decides one.
pub fn purchase_of(request: &ApprovalRequest) -> Option<PurchaseId> {
    request.arguments.get("purchase").and_then(Value::as_i64).map(PurchaseId)
}

/// The wallet that a request is about, if it is about one.
pub fn wallet_of(arguments: &Value) -> Option<i64> {
    arguments.get("wallet").and_then(Value::as_i64)
}

/// The arguments as a person reads them: `amount 5000.00, wallet 17`.
pub fn in_words(arguments: &Value) -> String {
    let named = arguments.as_object().into_iter().flatten();
    // The amount with its currency says the same.
    let named = named.filter(|(name, _)| *name != "minor" || arguments.get("amount").is_none());
    named.filter_map(|(name, value)| argument_in_words(name, value)).collect::<Vec<_>>().join(", ")
}

/// `None` where there is nothing to say. A threshold that is absent says most of all: the second person approves its end.
fn argument_in_words(name: &str, value: &Value) -> Option<String> {
    match (name, value) {
        ("above", Value::Null) => Some("a second person is never needed".to_owned()),
        (_, Value::Null | Value::Bool(false)) => None,
        ("takes", _) => Some("taken out of the wallet".to_owned()),
        ("pays_out", _) => Some("paid out".to_owned()),
        ("above", above) => Some(format!("a second person is needed above {}", amount(above))),
        ("minor", minor) => Some(format!("amount {}", amount(minor))),
        ("despite_statement", Value::String(statement)) => {
            Some(format!("listed in the statement {statement}"))
        }
        (name, Value::String(text)) => Some(format!("{name} {text}")),
        (name, value) => Some(format!("{name} {value}")),
    }
}

/// An amount that a request has in hundredths.
fn amount(value: &Value) -> String {
    value.as_i64().map_or_else(|| value.to_string(), plain)
}

impl Row for View {
    const COLUMNS: &'static [&'static str] = &[
        "request",
        "act",
        "arguments",
        "reason",
        "role",
        "requested by",
        "requested at",
        "expires at",
        "status",
        "decided by",
        "because",
    ];
    const MOMENTS: &'static [&'static str] = &["requested at", "expires at"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.request.to_string(),
            self.act.clone(),
            in_words(&self.arguments),
            self.reason.clone(),
            self.role.to_owned(),
            self.requested_by.clone(),
            self.requested_at.clone(),
            self.expires_at.clone(),
            self.status.to_owned(),
            or_dash(self.decided_by.as_deref()),
            or_dash(self.decided_because.as_deref()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_second_person_reads_what_is_approved_and_nothing_else() {
        let off = json!({ "act": "TOP_UP", "above": null });
        assert_eq!(in_words(&off), "a second person is never needed, act TOP_UP");
        let lower = json!({ "act": "TOP_UP", "above": 600_000 });
        assert_eq!(in_words(&lower), "a second person is needed above 6000.00, act TOP_UP");
        let paid = json!({ "wallet": 28, "takes": false, "pays_out": false, "minor": 600_000, "amount": "BWP 6000.00" });
        assert_eq!(in_words(&paid), "amount BWP 6000.00, wallet 28");
    }
}
