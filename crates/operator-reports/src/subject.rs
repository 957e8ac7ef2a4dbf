//! What the lines of the audit log are about, as a person names it.

use crate::{error::VendctlError, parse, purchases, session::Session};

/// The subject as the log has it, such as `purchase:17`. An organisation may be named by its code, a purchase by its reference, a
/// client by its client id, and a user of `organisation` by the name that it logs in with. Every other subject stays as it is.
pub(crate) async fn as_logged(
    session: &Session,
    named: &str,
    organisation: Option<&str>,
) -> Result<String, VendctlError> {
    let is_reference = named.starts_with("TOP/");
    let (noun, key) =
        if is_reference { ("purchase", named) } else { named.split_once(':').unwrap_or(("", named)) };
    if key.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(named.to_owned());
    }
    let number = match noun {
        "organisation" => session.organisation_id(key).await?.0,
        "client" => session.onboarding.client(key).await?.id,
        "user" => {
            let organisation = organisation.ok_or_else(|| VendctlError::WhoseUser(key.to_owned()))?;
            session.onboarding.user(organisation, key).await?.id
        }
        "purchase" => {
            let name = parse::purchase(key).map_err(|_unknown| VendctlError::NoPurchase(key.to_owned()))?;
            purchases::find(session, &name).await?.purchase.id.0
        }
        _ => return Ok(named.to_owned()),
    };
    Ok(format!("{noun}:{number}"))
}
