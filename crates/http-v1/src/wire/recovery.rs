//! What a caller does about a purchase whose outcome is not known yet.

use serde::Serialize;
use utoipa::ToSchema;

use purchase::Record;
use web::NextStep;

/// How to get the outcome of a purchase that is still open.
#[derive(Debug, Serialize, ToSchema)]
pub struct Recovery {
    /// The call to make: `retry`, with the same subscriber and external reference.
    #[schema(pattern = "^retry$", example = "retry")]
    call: &'static str,
    /// An earlier call gets the same answer.
    #[schema(format = DateTime, example = "2026-11-20T09:30:03Z")]
    not_before: String,
    /// The moment by which the outcome is known in the worst case, as long as the provider answers our enquiries. Null
    /// where only a person can end the doubt, or where the moment is unknown.
    #[schema(required, format = DateTime, example = "2026-11-20T09:41:40Z")]
    resolved_by: Option<String>,
}

impl Recovery {
    /// The recovery of an open purchase; `None` for any other purchase.
    pub(super) fn of(record: &Record) -> Option<Self> {
        let NextStep { call, not_before, resolved_by } = NextStep::of(record.recovery.as_ref()?);
        Some(Self { call, not_before, resolved_by })
    }
}
