//! Who is asking, and whether they may.

use std::sync::Arc;

use actix_web::{HttpRequest, http::header::AUTHORIZATION};

use error_codes::ErrorCode;
use identity::{AccessToken, AuthError, Caller, Identity, LoginError, Permission, Recalled};
use messages::Detail;
use purchase::{AccessTokenId, Authority, ClientId, OrganisationId, UserId};

use crate::{
    ApiError, Front, OVERLOAD_PAUSE, Visit,
    limits::{Counted, admit_address, admit_client, give_back},
};

/// The holder of the request's bearer token (RFC 6750, section 2.1), whose client does not come too often.
///
/// Whoever comes without a token, or with one that is known to be good for nothing, is counted by address. So is one with a
/// token that has not been seen lately, before the database is asked about it; where it turns out to be good, that does not
/// count. A token that was good lately is looked up whatever else comes from its address.
pub async fn authenticated(request: &HttpRequest, identity: &Identity) -> Result<Arc<Caller>, ApiError> {
    let caller = match bearer(request).map(|access_token| identity.recall(access_token)) {
        Some(Recalled::Caller(caller)) => caller,
        Some(Recalled::Familiar(token)) => looked_up(identity, &token).await?,
        Some(Recalled::Unknown(token)) => {
            let (front, visit) = (Front::of(request), Visit::of(request));
            admit_address(&front, &visit, Counted::UnknownToken)?;
            let found = looked_up(identity, &token).await;
            if found.is_ok() {
                give_back(&front, &visit, Counted::UnknownToken);
            }
            found?
        }
        Some(Recalled::Refused) | None => {
            admit_address(&Front::of(request), &Visit::of(request), Counted::UnknownToken)?;
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
        AuthError::Store(cause) => ApiError::new(ErrorCode::InternalError).because(cause),
    })
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
