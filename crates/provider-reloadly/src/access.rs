//! The access token. Concurrent callers share one request for it, and it is renewed before it expires.

mod token_endpoint;

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clock::{Monotonic, SharedClock};
use provider_http::header::HeaderValue;
use provider_http::{NoReply, Transport};

use crate::settings::{ReloadlySettings, SettingsError};
use token_endpoint::TokenEndpoint;

/// The maximum time before expiry at which a token is renewed. For a short-lived token it is a tenth of its lifetime.
const MARGIN_MAX: Duration = Duration::from_mins(5);

/// The renewal of a token that is still valid may take only this fraction of the caller's time: one second of ten. An
/// order that waits here must be sent before its gate closes.
const AHEAD: u32 = 10;

/// How long a valid token is used after a failed renewal, before the next attempt to renew it.
const PAUSE: Duration = Duration::from_secs(30);

/// The authorization of one request: the value of its `Authorization` header.
#[derive(Clone)]
pub(crate) struct Pass {
    /// Marked as sensitive.
    pub(crate) header: HeaderValue,
    /// The number of the token.
    number: u64,
}

/// Why there is no pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoAccess {
    #[error("the vendor does not accept our credentials")]
    Denied,
    #[error("no access token came")]
    NoReply(#[source] NoReply),
    #[error("the answer to our credentials is no access token")]
    Unreadable,
}

/// The store of the token.
#[derive(Debug)]
pub(crate) struct Access {
    token_endpoint: TokenEndpoint,
    clock: SharedClock,
    state: Mutex<State>,
    /// Held during a request for a token, so that there is at most one at a time.
    request_lock: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    held: Option<Held>,
    /// The number of finished requests for a token.
    requests: u64,
    /// How the last request failed. `None` if it succeeded.
    failed: Option<NoAccess>,
}

#[derive(Debug)]
struct Held {
    pass: Pass,
    renew_from: Monotonic,
    ends_at: Monotonic,
}

/// The state of the stored token.
enum Found {
    Good(Pass),
    /// Valid, but the next caller must renew it.
    Ageing(Pass),
    Nothing,
}

impl Access {
    pub(crate) fn new(settings: &ReloadlySettings, clock: SharedClock) -> Result<Self, SettingsError> {
        Ok(Self {
            token_endpoint: TokenEndpoint::new(settings)?,
            clock,
            state: Mutex::default(),
            request_lock: tokio::sync::Mutex::default(),
        })
    }

    /// A valid pass. A caller without a valid token waits for a request that is in progress and shares its result.
    pub(crate) async fn pass(&self, transport: &Transport, within: Duration) -> Result<Pass, NoAccess> {
        let requests_seen = match self.found() {
            (Found::Good(pass), _) => return Ok(pass),
            (Found::Ageing(pass), _) => return Ok(self.renewed(pass, transport, within).await),
            (Found::Nothing, requests) => requests,
        };
        let _request = self.request_lock.lock().await;
        match self.found() {
            (Found::Good(pass) | Found::Ageing(pass), _) => return Ok(pass),
            (Found::Nothing, requests) if requests == requests_seen => {}
            (Found::Nothing, _) => {
                if let Some(failed) = self.state().failed {
                    return Err(failed);
                }
            }
        }
        self.request_token(transport, within).await
    }

    /// Drops the token of this pass, unless it was already replaced. The next caller requests a new token.
    pub(crate) fn give_up(&self, pass: &Pass) {
        let mut state = self.state();
        if state.held.as_ref().is_some_and(|held| held.pass.number == pass.number) {
            state.held = None;
        }
    }

    /// A new pass in place of an ageing one. It is the ageing one if another caller is renewing it or the renewal
    /// fails.
    async fn renewed(&self, ageing: Pass, transport: &Transport, within: Duration) -> Pass {
        let Ok(_request) = self.request_lock.try_lock() else { return ageing };
        match self.found() {
            (Found::Good(pass), _) => pass,
            (Found::Ageing(_) | Found::Nothing, _) => {
                let not_long = within.checked_div(AHEAD).unwrap_or(within);
                self.request_token(transport, not_long).await.unwrap_or(ageing)
            }
        }
    }

    /// Requests a token. The caller holds the request lock.
    async fn request_token(&self, transport: &Transport, within: Duration) -> Result<Pass, NoAccess> {
        let asked_at = self.clock.monotonic();
        let granted = self.token_endpoint.ask(transport, within).await;
        let mut state = self.state();
        state.requests = state.requests.saturating_add(1);
        state.failed = granted.as_ref().err().copied();
        match granted {
            Ok(grant) => {
                let pass = Pass { header: grant.header, number: state.requests };
                let held = Held::since(asked_at, grant.lifetime, pass.clone());
                state.held = Some(held);
                Ok(pass)
            }
            Err(no_access) => {
                tracing::warn!(why = %no_access, "no new access token");
                let pause_ends = self.clock.monotonic().checked_add(PAUSE);
                if let (Some(held), Some(pause_ends)) = (&mut state.held, pause_ends) {
                    held.renew_from = pause_ends;
                }
                Err(no_access)
            }
        }
    }

    fn found(&self) -> (Found, u64) {
        let now = self.clock.monotonic();
        let state = self.state();
        let found = match &state.held {
            Some(held) if now < held.renew_from && now < held.ends_at => Found::Good(held.pass.clone()),
            Some(held) if now < held.ends_at => Found::Ageing(held.pass.clone()),
            Some(_) | None => Found::Nothing,
        };
        (found, state.requests)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    /// The lifetime is counted from before the request, so that the token does not expire earlier than assumed.
    fn since(asked_at: Monotonic, lifetime: Duration, pass: Pass) -> Self {
        let margin = lifetime.checked_div(10).unwrap_or_default().min(MARGIN_MAX);
        let after = |length: Duration| asked_at.checked_add(length).unwrap_or(asked_at);
        Self { pass, renew_from: after(lifetime.saturating_sub(margin)), ends_at: after(lifetime) }
    }
}

impl fmt::Debug for Pass {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Pass(#{})", self.number)
    }
}
