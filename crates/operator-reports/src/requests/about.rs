//! The purchase of a request, for the person who approves it: a number alone is easily mistyped, and says nothing.

use back_office::ApprovalRequest;
use oversight::StoryPurchase;
use purchase::PurchaseId;
use serde_json::Value;

use crate::{error::VendctlError, session::Session};

/// The number of the purchase that a request decides, if it decides one.
pub(super) fn number(request: &ApprovalRequest) -> Option<PurchaseId> {
    request.arguments.get("purchase").and_then(Value::as_i64).map(PurchaseId)
}

/// The purchase, and what the approval needs, in sentences. Empty for a request about something else.
pub(super) async fn in_words(session: &Session, request: &ApprovalRequest) -> Result<String, VendctlError> {
    let Some(id) = number(request) else { return Ok(String::new()) };
    let story = oversight::oversee_purchase(session.database(), id).await?;
    Ok(story.map(|story| describe(&story.purchase, request)).unwrap_or_default())
}

fn describe(of: &StoryPurchase, request: &ApprovalRequest) -> String {
    let (code, name) = &of.organisation;
    let customer = of.subscriber_details.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
    let what = format!(
        "Purchase {} of {code}, {name}: {} for {}{customer}, phone {}. {} was requested from {}, with all charges {}. It is {}.",
        of.reference,
        of.product,
        of.subscriber,
        of.beneficiary_phone_number,
        of.amounts.net,
        of.provider_code,
        of.amounts.total,
        of.state.as_str(),
    );
    if request.token_sha256.is_none() || request.decision.is_some() {
        return what;
    }
    format!(
        "{what} The request has a token. Who approves it enters the token too, as the provider has it, with --token-stdin or \
         --token-file: a mistyped digit cannot be seen otherwise."
    )
}
