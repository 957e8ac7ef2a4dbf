//! Somebody at the door who has no token yet.

use actix_web::{HttpRequest, web::Data};

use error_codes::ErrorCode;
use identity::{Identity, IssuedTokens, LoginCredentials, LoginError, RefreshCredentials};
use messages::Detail;

use crate::{
    ApiError, ClientHeader, Front, Visit,
    caller::not_issued,
    limits::{Counted, Network, Turn, admit_address},
};

/// Somebody of whom only their address is known, and that they do not come too often.
///
/// The way to log in leads through here, so that no surface can forget to count.
#[derive(Debug)]
pub struct Stranger {
    origin: Network,
    front: Data<Front>,
    uses_basic: bool,
}

impl Stranger {
    /// Whoever sends this login. To be asked before its body is read.
    pub fn at_login(request: &HttpRequest) -> Result<Self, ApiError> {
        Self::counted(request, Counted::Login)
    }

    /// Whoever sends this refresh. To be asked before its body is read.
    pub fn at_refresh(request: &HttpRequest) -> Result<Self, ApiError> {
        Self::counted(request, Counted::Refresh)
    }

    fn counted(request: &HttpRequest, counted: Counted) -> Result<Self, ApiError> {
        let (front, visit) = (Front::of(request), Visit::of(request));
        admit_address(&front, &visit, counted)?;
        let uses_basic = ClientHeader::of(request).is_basic();
        Ok(Self { origin: visit.origin(), front, uses_basic })
    }

    /// Logs them in, when it is their turn.
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
                Err(LoginError::InvalidCredentials) => turn.was_wrong(self.front.clock().monotonic()),
                // Nothing was found out.
                Err(
                    LoginError::Busy(_)
                    | LoginError::Store(_)
                    | LoginError::Entropy(_)
                    | LoginError::Unchecked(_),
                ) => turn.was_in_vain(),
            }
        }
        outcome.map_err(|error| not_issued(error, Detail::Login))
    }

    /// Lets them stay.
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
        let Some(guesses) = &self.front.limits.guesses else { return Ok(None) };
        let turn = guesses.turn(self.origin, credentials.claim(), self.front.clock().as_ref()).await;
        turn.map(Some).map_err(|line| ApiError::new(ErrorCode::RateLimited).after(line.wait))
    }
}
