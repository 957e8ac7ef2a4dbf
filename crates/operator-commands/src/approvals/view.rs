//! How a request is shown: exactly what would be done, and what became of it.

use back_office::ApprovalRequest;
use serde::Serialize;
use serde_json::Value;

use crate::report::{Row, instant, or_dash};

#[derive(Serialize)]
pub(super) struct View {
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

/// The arguments as a person reads them: `minor 500000, wallet 17`.
pub(super) fn in_words(arguments: &Value) -> String {
    let named = arguments.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    named.map(|(name, value)| format!("{name} {}", plain(value))).collect::<Vec<_>>().join(", ")
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
