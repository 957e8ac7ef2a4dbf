//! What the lines of the audit log are about, as a person names it.

use ledger::AccountId;
use purchase::PurchaseId;

use crate::{error::VendctlError, parse, purchases, session::Session};

/// The subjects as the log has them, such as `account:17`. An organisation may be named by its code, a purchase by its reference or its number alone, a client
/// by its client id, and a user of `organisation` by the name that it logs in with. With a purchase come the requests to decide it, its
/// incidents and its discrepancies, with a wallet the requests about it. Every other subject stays as it is.
pub(crate) async fn as_logged(
    session: &Session,
    named: &str,
    organisation: Option<&str>,
) -> Result<Vec<String>, VendctlError> {
    let in_capitals = named.to_ascii_uppercase();
    let is_purchase = in_capitals.starts_with("TOP/") || named.bytes().all(|byte| byte.is_ascii_digit());
    let (noun, key) = if is_purchase {
        ("purchase", in_capitals.as_str())
    } else {
        named.split_once(':').unwrap_or(("", named))
    };
    if noun == "purchase" {
        return of_purchase(session, key).await;
    }
    if let ("account" | "wallet", Ok(number)) = (noun, key.parse()) {
        return of_wallet(session, number).await;
    }
    if key.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(vec![named.to_owned()]);
    }
    let number = match noun {
        "organisation" => session.organisation_id(key).await?.0,
        "client" => session.onboarding.client(key).await?.id,
        "user" => {
            let organisation = organisation.ok_or_else(|| VendctlError::WhoseUser(key.to_owned()))?;
            session.onboarding.user(organisation, key).await?.id
        }
        _ => return Ok(vec![named.to_owned()]),
    };
    Ok(vec![format!("{noun}:{number}")])
}

async fn of_wallet(session: &Session, number: i64) -> Result<Vec<String>, VendctlError> {
    let requests = back_office::list_requests_of_wallet(session.database(), AccountId(number)).await?;
    let requests = requests.into_iter().map(|request| format!("approval:{request}"));
    Ok(std::iter::once(format!("account:{number}")).chain(requests).collect())
}

/// A number is taken as it is: the log is kept longer than an archived purchase.
async fn of_purchase(session: &Session, key: &str) -> Result<Vec<String>, VendctlError> {
    let number = match key.parse() {
        Ok(number) => number,
        Err(_reference) => {
            let name = parse::purchase(key).map_err(|_unknown| VendctlError::NoPurchase(key.to_owned()))?;
            purchases::find(session, &name).await?.purchase.id.0
        }
    };
    Ok(oversight::audit_subjects_of_purchase(session.database(), PurchaseId(number)).await?)
}
