//! The purchase or the wallet of a request, for the person who approves it: a number alone is easily mistyped, and says nothing.

use back_office::{ActKind, ApprovalRequest};
use chrono_tz::Tz;
use money::Money;
use oversight::StoryPurchase;
use purchase::StateName;
use serde_json::Value;

use super::{in_words as in_words_of, purchase_of, waiting, wallet_of};
use crate::{error::VendctlError, report::local, session::Session};

/// The purchase and what the approval needs, or the wallet and what else waits about it, in sentences. Empty for a request about something
/// else, and for a decided one about a wallet.
pub async fn in_words(session: &Session, request: &ApprovalRequest) -> Result<String, VendctlError> {
    let Some(id) = purchase_of(request) else { return wallet_in_words(session, request).await };
    let story = oversight::oversee_purchase(session.database(), id).await?;
    Ok(story.map(|story| describe(&story.purchase, request, session.zone())).unwrap_or_default())
}

async fn wallet_in_words(session: &Session, request: &ApprovalRequest) -> Result<String, VendctlError> {
    let Some(number) = wallet_of(&request.arguments).filter(|_| request.decision.is_none()) else {
        return Ok(String::new());
    };
    let wallet = session.account(number).await?;
    let named = session.named_wallet(number).await?;
    let others = others_about_wallet(session, number, Some(request.id)).await?;
    let has =
        format!("Wallet {named} has {} now, of which {} can be spent.", wallet.posted, wallet.available);
    let has = match change(request).and_then(|minor| wallet.posted.minor().checked_add(minor)) {
        Some(minor) => format!("{has} Afterwards it has {}.", Money::from_minor(minor, wallet.currency)),
        None => has,
    };
    Ok([Some(has), others].into_iter().flatten().collect::<Vec<_>>().join(" "))
}

/// By what the balance of the wallet changes, in hundredths.
fn change(request: &ApprovalRequest) -> Option<i64> {
    let minor = request.arguments.get("minor")?.as_i64()?;
    let is_given = |name: &str| request.arguments.get(name).and_then(Value::as_bool).unwrap_or_default();
    // A charge takes, and does not say so.
    let takes = request.kind == ActKind::Charge || is_given("takes") || is_given("pays_out");
    Some(if takes { -minor } else { minor })
}

/// The other requests that wait about this wallet, in a sentence: two corrections of one mistake are one too many.
pub async fn others_about_wallet(
    session: &Session,
    wallet: i64,
    besides: Option<i64>,
) -> Result<Option<String>, VendctlError> {
    let waiting = waiting(session).await?;
    let others = waiting
        .iter()
        .filter(|other| wallet_of(&other.arguments) == Some(wallet) && Some(other.id) != besides);
    let named: Vec<String> = others
        .map(|other| {
            format!("request {} ({}: {})", other.id, other.kind.code(), in_words_of(&other.arguments))
        })
        .collect();
    Ok((!named.is_empty()).then(|| format!("About the same wallet waits: {}.", named.join("; "))))
}

/// What approval does about a purchase. Nothing, once it is decided.
fn consequence(of: &StoryPurchase, request: &ApprovalRequest) -> String {
    let told = |name: &str| request.arguments.get(name).and_then(Value::as_str).unwrap_or_default();
    let total = of.amounts.total;
    if request.decision.is_some() {
        String::new()
    } else if of.state != StateName::Review {
        " It is not in review any more, so this cannot be approved: reject it.".to_owned()
    } else if request.kind == ActKind::Release {
        format!(" With the approval {total} is released as not vended. This cannot be undone.")
    } else {
        let transaction = told("provider_transaction");
        format!(
            " With the approval {total} is paid as vended, as transaction {transaction}. This cannot be undone."
        )
    }
}

fn describe(of: &StoryPurchase, request: &ApprovalRequest, zone: Tz) -> String {
    let (code, name) = &of.organisation;
    let customer = of.subscriber_details.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
    let what = format!(
        "Purchase {} of {code}, {name}, at {}: {} for {}{customer}, phone {}. {} was requested from {}, with all charges {}. It is {}. \
         `vendctl purchases show {}` has the references of its orders.{}",
        of.reference,
        local(of.created_at, zone),
        of.product,
        of.subscriber,
        of.beneficiary_phone_number,
        of.amounts.net,
        of.provider_code,
        of.amounts.total,
        of.state.as_str(),
        of.id.0,
        consequence(of, request),
    );
    if request.token_sha256.is_none() || request.decision.is_some() {
        return what;
    }
    format!(
        "{what} The request has a token. Who approves it enters the token too, as the provider has it, with --token-stdin or \
         --token-file: a mistyped digit cannot be seen otherwise."
    )
}
