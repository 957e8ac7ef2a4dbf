//! The approval of a request. A decision about a purchase is recorded by the store, everything else by the database alone.

use back_office::{ActKind, ApprovalRequest, ApproveError, SECRET_COLUMN};
use directory::AuditContext;
use meter_token::TokenSet;
use operator_reports::purchases::token::TokenFrom;
use purchase::{PurchaseId, StateName};
use reconciliation::Listing;
use rust_decimal::Decimal;
use serde_json::Value;
use sha2::{Digest, Sha256};
use store::{Aad, Approval, Decision, DecisionError};
use vend::{RawReply, Units, Vend};

use super::{find, shown};
use crate::{
    arguments::Why,
    care::Care,
    error::VendctlError,
    report::Report,
    requests::{about, in_words, purchase_of},
    rights,
    session::Session,
};

const WITHOUT_TOKEN: &str =
    "The approval needs the token too, with --token-stdin or --token-file. Without it nothing is approved.";
const REHEARSED: &str = "This was a rehearsal. Nothing was approved.";

pub(super) async fn run(
    session: &Session,
    id: i64,
    token: &TokenFrom,
    care: Care,
    why: &Why,
) -> Result<Report, VendctlError> {
    let request = find(session, id).await?;
    let role = request.kind.role();
    if !session.operator.roles.contains(&role) {
        let has = rights::named(&session.operator.roles, ", ");
        return Err(VendctlError::NeedsRole { needs: rights::named(&[role], ""), has });
    }
    if let Some(decision) = &request.decision {
        return Err(ApproveError::Decided { id, by: decision.by.clone() }.into());
    }
    // What is certain to be refused is not even begun.
    if request.requested_by == session.operator.login {
        return Err(VendctlError::OwnRequest);
    }
    if request.has_expired {
        return Err(VendctlError::RequestExpired);
    }
    let decision = match request.kind {
        ActKind::Resolve => {
            let (purchase, decision) = decision(session, &request, token, care).await?;
            session.store.rehearse_decision(purchase, &decision).await?;
            Some((purchase, decision))
        }
        _ if token.is_given() => return Err(VendctlError::RequestHasNoToken(id)),
        ActKind::Release => {
            let purchase = released(session, &request).await?;
            session.store.rehearse_decision(purchase, &Decision::NotVended).await?;
            Some((purchase, Decision::NotVended))
        }
        ActKind::TopUp
        | ActKind::Adjust
        | ActKind::Reverse
        | ActKind::Charge
        | ActKind::Declare
        | ActKind::Threshold => {
            back_office::rehearse_approval(session.database(), id, session.act(why)).await?;
            None
        }
    };
    if care.dry_run {
        let report = shown(session, &request).await?;
        let is_without_token = request.token_sha256.is_some() && !token.is_given();
        return Ok(report.noting_any(is_without_token.then_some(WITHOUT_TOKEN)).noting(REHEARSED));
    }
    if care.asks() {
        care.ask(&format!(
            "{} is done: {}. {} requested it. {}",
            request.kind.code(),
            in_words(&request.arguments),
            request.requested_by,
            about::in_words(session, &request).await?
        ))?;
    }
    let posted = match decision {
        Some((purchase, decision)) => {
            resolve(session, &request, purchase, decision, why).await?;
            None
        }
        None => back_office::approve_request(session.database(), id, session.act(why)).await?,
    };
    let report = shown(session, &find(session, id).await?).await?;
    let posted = posted.map(|(entry, _at)| format!("It was posted as entry {entry}."));
    Ok(report.noting_any(posted.as_deref()))
}

async fn resolve(
    session: &Session,
    request: &ApprovalRequest,
    purchase: PurchaseId,
    decision: Decision,
    why: &Why,
) -> Result<(), VendctlError> {
    let act = AuditContext { actor: request.requested_by.clone(), reason: request.reason.clone() };
    let approval = Approval { request: request.id, reason: why.reason.clone() };
    session.store.decide_approved(purchase, decision, act, approval).await?;
    Ok(())
}

/// The purchase that is to be released. A statement that lists it must be in the request, because the second person agrees to that too.
async fn released(session: &Session, request: &ApprovalRequest) -> Result<PurchaseId, VendctlError> {
    let id = purchase_of(request).ok_or(VendctlError::UnreadableRequest(request.id))?;
    let is_known = request.arguments.get("despite_statement").is_some_and(Value::is_string);
    match reconciliation::find_listing(session.database(), id).await? {
        Some(Listing { run, file_name }) if !is_known => {
            Err(VendctlError::ListedSince { request: request.id, file: file_name, run })
        }
        Some(_) | None => Ok(id),
    }
}

/// The purchase and the vend that are requested, with the token opened and compared with the one that is entered.
async fn decision(
    session: &Session,
    request: &ApprovalRequest,
    token: &TokenFrom,
    care: Care,
) -> Result<(PurchaseId, Decision), VendctlError> {
    let unreadable = || VendctlError::UnreadableRequest(request.id);
    let text = |name: &str| request.arguments.get(name).and_then(Value::as_str);
    let id = purchase_of(request).ok_or_else(unreadable)?;
    let story = oversight::oversee_purchase(session.database(), id).await?;
    let of = story.ok_or(DecisionError::Absent(id))?.purchase;
    let state = of.state;
    if state != StateName::Review {
        return Err(DecisionError::NotInReview { id, state }.into());
    }
    let units = match (text("quantity"), text("unit")) {
        (Some(quantity), Some(unit)) => {
            let quantity: Decimal = quantity.parse().map_err(|_not_a_number| unreadable())?;
            Some(Units { quantity, unit: unit.to_owned() })
        }
        _ => None,
    };
    let tokens = tokens(session, request, id).await?;
    check_entered(request.id, tokens.as_ref(), token.read(of.product)?.as_ref(), care)?;
    let vend = Vend {
        tokens,
        units,
        provider_transaction: text("provider_transaction").ok_or_else(unreadable)?.to_owned(),
        breakdown: None,
        subscriber_details: None,
        raw_reply: RawReply::default(),
    };
    Ok((id, Decision::Vended(Box::new(vend))))
}

/// The second person copies the token from the provider as well, because a digit that the first has mistyped cannot be seen.
fn check_entered(
    request: i64,
    requested: Option<&TokenSet>,
    entered: Option<&TokenSet>,
    care: Care,
) -> Result<(), VendctlError> {
    match (requested, entered) {
        (None, None) => Ok(()),
        (None, Some(_)) => Err(VendctlError::RequestHasNoToken(request)),
        (Some(_), None) if care.dry_run => Ok(()),
        (Some(_), None) => Err(VendctlError::TokenToApprove(request)),
        (Some(requested), Some(entered)) if requested.ungrouped() == entered.ungrouped() => Ok(()),
        (Some(_), Some(_)) => Err(VendctlError::NotTheRequestedToken(request)),
    }
}

/// The tokens, opened with the servers' key, if there are any. They must be those that were requested.
async fn tokens(
    session: &Session,
    request: &ApprovalRequest,
    purchase: PurchaseId,
) -> Result<Option<TokenSet>, VendctlError> {
    let Some(sha256) = &request.token_sha256 else { return Ok(None) };
    if !session.can_seal {
        return Err(VendctlError::NoSealingKey);
    }
    let unreadable = || VendctlError::UnreadableRequest(request.id);
    let sealed = back_office::find_token_of_request(session.database(), request.id).await?;
    let sealed = sealed.ok_or(VendctlError::RequestExpired)?;
    let place = Aad { row_id: purchase.0, column: SECRET_COLUMN };
    let opened = session.store.sealing().open(&sealed, place).map_err(DecisionError::OtherKey)?;
    if Sha256::digest(&*opened).as_slice() != sha256.as_slice() {
        return Err(unreadable());
    }
    let wire = str::from_utf8(&opened).map_err(|_not_text| unreadable())?;
    TokenSet::parse(wire).map(Some).map_err(|_no_token| unreadable())
}
