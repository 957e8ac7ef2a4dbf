//! A caller that is not authenticated yet.

use actix_web::{HttpRequest, web::Data};
use error_codes::ErrorCode;
use identity::{Identity, IssuedTokens, LoginCredentials, LoginError, RefreshCredentials};
use messages::Detail;

use crate::{
    ApiError, ClientHeader, RequestContext, SharedState,
    caller::not_issued,
    limits::{Counted, Network, Turn, admit_address},
};

/// A caller of which only the address is known, and that has not exceeded the limit of its address.
///
/// Login and refresh are possible only through this type, so no surface can forget to count them.
#[derive(Debug)]
pub struct UnauthenticatedCaller {
    origin: Network,
    shared: Data<SharedState>,
    uses_basic: bool,
}

impl UnauthenticatedCaller {
    /// The sender of a login. Call this before the body is read.
    pub fn at_login(request: &HttpRequest) -> Result<Self, ApiError> {
        Self::counted(request, Counted::Login)
    }

    /// The sender of a refresh. Call this before the body is read.
    pub fn at_refresh(request: &HttpRequest) -> Result<Self, ApiError> {
        Self::counted(request, Counted::Refresh)
    }

    fn counted(request: &HttpRequest, counted: Counted) -> Result<Self, ApiError> {
        let (shared, context) = (SharedState::of(request), RequestContext::of(request));
        admit_address(&shared, &context, counted)?;
        let uses_basic = ClientHeader::of(request).is_basic();
        Ok(Self { origin: context.origin(), shared, uses_basic })
    }

    /// Logs the caller in, when its turn has come.
    pub async fn logs_in(
        &self,
        identity: &Identity,
        credentials: LoginCredentials,
    ) -> Result<IssuedTokens, ApiError> {
        let turn = self.turn(&credentials).await?;
        let outcome = identity.login(credentials).await;
        if let Some(turn) = turn {
            match &outcome {
                Ok(_) | Err(LoginError::OrganisationSuspended) => turn.was_right(),
                Err(LoginError::InvalidCredentials) => turn.was_wrong(self.shared.clock().monotonic()),
                // The attempt showed nothing about the password.
                Err(
                    LoginError::Busy(_)
                    | LoginError::Database(_)
                    | LoginError::Entropy(_)
                    | LoginError::Unchecked(_),
                ) => turn.was_in_vain(),
            }
        }
        outcome.map_err(|error| not_issued(error, Detail::Login))
    }

    /// Issues new tokens for a refresh token.
    pub async fn refreshes(
        &self,
        identity: &Identity,
        credentials: RefreshCredentials,
    ) -> Result<IssuedTokens, ApiError> {
        identity.refresh(credentials).await.map_err(|error| {
            let refused = not_issued(error, Detail::Refresh);
            if self.uses_basic { refused.asking_for_basic() } else { refused }
        })
    }

    async fn turn(&self, credentials: &LoginCredentials) -> Result<Option<Turn>, ApiError> {
        let Some(guesses) = &self.shared.limits.guesses else { return Ok(None) };
        let turn = guesses.turn(self.origin, credentials.claim(), self.shared.clock().as_ref()).await;
        turn.map(Some).map_err(|line| ApiError::new(ErrorCode::RateLimited).after(line.wait))
    }
}
