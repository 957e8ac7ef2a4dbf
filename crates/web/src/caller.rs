//! Authentication of a request by its bearer token, and the check of the caller's permission.

use std::sync::Arc;

use actix_web::{HttpRequest, http::header::AUTHORIZATION};
use error_codes::ErrorCode;
use identity::{AccessToken, AuthError, Caller, Identity, LoginError, Permission, Recalled};
use messages::Detail;
use purchase::{AccessTokenId, Authority, ClientId, OrganisationId, UserId};

use crate::{
    ApiError, OVERLOAD_PAUSE, RequestContext, SharedState,
    limits::{Counted, admit_address, admit_client, give_back},
};

/// The holder of the request's bearer token (RFC 6750, section 2.1). A client that exceeds its rate limit is refused.
///
/// A request without a token, or with a token that is known to be invalid, counts against the limit of its address. A
/// token that was not seen recently counts too, before the database is asked about it; if it turns out to be valid, the
/// count is taken back. A token that was valid recently is looked up regardless of all other requests from its address.
pub async fn authenticated(request: &HttpRequest, identity: &Identity) -> Result<Arc<Caller>, ApiError> {
    let caller = match bearer(request).map(|access_token| identity.recall(access_token)) {
        Some(Recalled::Caller(caller)) => caller,
        Some(Recalled::Familiar(token)) => looked_up(identity, &token).await?,
        Some(Recalled::Unknown(token)) => {
            let (shared, context) = (SharedState::of(request), RequestContext::of(request));
            admit_address(&shared, &context, Counted::UnknownToken)?;
            let found = looked_up(identity, &token).await;
            if found.is_ok() {
                give_back(&shared, &context, Counted::UnknownToken);
            }
            found?
        }
        Some(Recalled::Refused) | None => {
            admit_address(&SharedState::of(request), &RequestContext::of(request), Counted::UnknownToken)?;
            return Err(ApiError::new(ErrorCode::InvalidCredentials));
        }
    };
    admit_client(request, caller.client_id)?;
    Ok(caller)
}

async fn looked_up(identity: &Identity, token: &AccessToken) -> Result<Arc<Caller>, ApiError> {
    identity.look_up_caller(token).await.map_err(|error| match error {
        AuthError::InvalidToken => ApiError::new(ErrorCode::InvalidCredentials),
        AuthError::OrganisationSuspended => ApiError::new(Detail::OrganisationSuspended),
        AuthError::Busy(cause) => ApiError::new(ErrorCode::RateLimited).after(OVERLOAD_PAUSE).because(cause),
        AuthError::Database(cause) => ApiError::new(ErrorCode::InternalError).because(cause),
    })
}

/// As [`authenticated`]. A caller without `permission` is refused.
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

/// The ids under which the caller buys. They are checked again where money moves.
pub fn authority(caller: &Caller) -> Authority {
    Authority {
        organisation: OrganisationId(caller.organisation.id),
        client: ClientId(caller.client_id),
        user: UserId(caller.user.id),
        access_token: AccessTokenId(caller.access_token_id),
    }
}

/// The error where no tokens were issued. `presented` says what was presented: a login or a refresh. The answer does
/// not say which part of the credentials was wrong.
pub(crate) fn not_issued(error: LoginError, presented: Detail) -> ApiError {
    match error {
        LoginError::InvalidCredentials => ApiError::new(presented),
        LoginError::OrganisationSuspended => ApiError::new(Detail::OrganisationSuspended),
        LoginError::Busy(_) => ApiError::new(ErrorCode::RateLimited).after(OVERLOAD_PAUSE).because(error),
        LoginError::Database(_) | LoginError::Entropy(_) | LoginError::Unchecked(_) => {
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
