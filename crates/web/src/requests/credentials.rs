//! The bodies of login and refresh (specification, section 5).

use identity::{LoginCredentials, RefreshCredentials};
use purchase::SourceChannel;

use super::lengths::CREDENTIAL_MAX;
use crate::{ApiError, Fields};

/// The body of login. The channel may be left out: nothing depends on it.
pub fn login_request(fields: &Fields, channels: &[SourceChannel]) -> Result<LoginCredentials, ApiError> {
    let credential = |name| fields.required_text(name, CREDENTIAL_MAX);
    let client_id = credential("client_id")?;
    let client_secret = credential("client_secret")?.into();
    fields.one_of("grant_type", &["password"], |grant| grant)?;
    let username = credential("identifier")?;
    let password = credential("secret_pass")?.into();
    let organisation_code = credential("org_code")?;
    fields.optional_one_of("source_channel", channels, SourceChannel::as_str)?;
    Ok(LoginCredentials { client_id, client_secret, organisation_code, username, password })
}

/// The body of refresh.
pub fn refresh_request(fields: &Fields) -> Result<RefreshCredentials, ApiError> {
    let credential = |name| fields.required_text(name, CREDENTIAL_MAX);
    let client_id = credential("client_id")?;
    let client_secret = credential("client_secret")?.into();
    fields.one_of("grant_type", &["refresh_token"], |grant| grant)?;
    let refresh_token = credential("refresh_token")?.into();
    Ok(RefreshCredentials { client_id, client_secret, refresh_token })
}
