//! The bodies of login and refresh (specification, section 5).

use identity::{ClientProof, LoginCredentials, RefreshCredentials};
use messages::Detail;
use purchase::SourceChannel;

use super::lengths::CREDENTIAL_MAX;
use crate::{ApiError, ClientHeader, Fields};

/// Reads the body of login. The channel is optional: nothing depends on it.
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

/// Reads the body of refresh, and the header in which the client may prove itself instead.
pub fn refresh_request(fields: &Fields, header: &ClientHeader) -> Result<RefreshCredentials, ApiError> {
    let client = client_proof(fields, header)?;
    fields.one_of("grant_type", &["refresh_token"], |grant| grant)?;
    let refresh_token = fields.required_text("refresh_token", CREDENTIAL_MAX)?.into();
    Ok(RefreshCredentials { client, refresh_token })
}

/// Name and secret in the body take precedence over any header. Without a header they are required.
fn client_proof(fields: &Fields, header: &ClientHeader) -> Result<ClientProof, ApiError> {
    if let ClientHeader::Absent = header {
        let required = |name| fields.required_text(name, CREDENTIAL_MAX);
        let client_id = required("client_id")?;
        return Ok(ClientProof::Secret { client_id, client_secret: required("client_secret")?.into() });
    }
    let optional = |name| fields.optional_text(name, CREDENTIAL_MAX);
    match (optional("client_id")?, optional("client_secret")?) {
        (Some(client_id), Some(client_secret)) => {
            Ok(ClientProof::Secret { client_id, client_secret: client_secret.into() })
        }
        (named, _) => by_header(header, named),
    }
}

/// A client id in the body must be the same as the client of the header.
fn by_header(header: &ClientHeader, named: Option<String>) -> Result<ClientProof, ApiError> {
    match header {
        ClientHeader::Basic { client_id, client_secret }
            if named.as_ref().is_none_or(|it| it == client_id) =>
        {
            let client_secret = client_secret.as_str().into();
            Ok(ClientProof::Secret { client_id: client_id.clone(), client_secret })
        }
        ClientHeader::Bearer(access_token) => {
            Ok(ClientProof::AccessToken { client_id: named, access_token: access_token.as_str().into() })
        }
        ClientHeader::Basic { .. } | ClientHeader::MalformedBasic => {
            Err(ApiError::new(Detail::Refresh).asking_for_basic())
        }
        ClientHeader::Absent => Err(ApiError::new(Detail::Refresh)),
    }
}
