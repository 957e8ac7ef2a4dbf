//! Who is asking, and whether they may.

use std::sync::Arc;

use actix_web::{HttpRequest, http::header::AUTHORIZATION};

use error_codes::ErrorCode;
use identity::{AuthError, Caller, Identity, LoginError, Permission};
use messages::Detail;
use purchase::{AccessTokenId, Authority, ClientId, OrganisationId, UserId};

use crate::{ApiError, OVERLOAD_PAUSE, limits::admit_client};

/// The holder of the request's bearer token (RFC 6750, section 2.1), whose client does not come too often.
pub async fn authenticated(request: &HttpRequest, identity: &Identity) -> Result<Arc<Caller>, ApiError> {
    let access_token = bearer(request).ok_or_else(|| ApiError::new(ErrorCode::InvalidCredentials))?;
    let caller = identity.authenticate(access_token).await.map_err(|error| match error {
        AuthError::InvalidToken => ApiError::new(ErrorCode::InvalidCredentials),
        AuthError::OrganisationSuspended => ApiError::new(Detail::OrganisationSuspended),
        AuthError::Busy(cause) => ApiError::new(ErrorCode::RateLimited).after(OVERLOAD_PAUSE).because(cause),
        AuthError::Store(cause) => ApiError::new(ErrorCode::InternalError).because(cause),
    })?;
    admit_client(request, caller.client_id)?;
    Ok(caller)
}

/// The same, if they may do this.
pub async fn authorised(
    request: &HttpRequest,
    identity: &Identity,
    permission: Permission,
) -> Result<Arc<Caller>, ApiError> {
    let caller = authenticated(request, identity).await?;
    if caller.may(permission) {
        Ok(caller)
    } else {
        Err(ApiError::new(ErrorCode::MissingPermission).with("permission", permission.code()))
    }
}

/// In whose name the caller buys: ids only, checked again where money moves.
pub fn authority(caller: &Caller) -> Authority {
    Authority {
        organisation: OrganisationId(caller.organisation.id),
        client: ClientId(caller.client_id),
        user: UserId(caller.user.id),
        access_token: AccessTokenId(caller.access_token_id),
    }
}

/// No tokens were issued; `presented` says for what. Nobody learns which part of it was wrong.
pub(crate) fn not_issued(error: LoginError, presented: Detail) -> ApiError {
    match error {
        LoginError::InvalidCredentials => ApiError::new(presented),
        LoginError::OrganisationSuspended => ApiError::new(Detail::OrganisationSuspended),
        LoginError::Busy(_) => ApiError::new(ErrorCode::RateLimited).after(OVERLOAD_PAUSE).because(error),
        LoginError::Store(_) | LoginError::Entropy(_) | LoginError::Unchecked(_) => {
            ApiError::new(ErrorCode::InternalError).because(error)
        }
    }
}

fn bearer(request: &HttpRequest) -> Option<&str> {
    let credentials = request.headers().get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, access_token) = credentials.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| access_token.trim_start())
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn a_bearer_token_is_found_whatever_the_case_of_its_scheme() {
        for (header, found) in [
            ("Bearer abc", Some("abc")),
            ("bearer  abc", Some("abc")),
            ("Basic abc", None),
            ("Bearer", None),
            ("", None),
        ] {
            let request = TestRequest::get().insert_header(("Authorization", header)).to_http_request();
            assert_eq!(bearer(&request), found, "{header:?}");
        }
        assert_eq!(bearer(&TestRequest::get().to_http_request()), None);
    }
}
