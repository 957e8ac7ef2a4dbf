//! The access token: asked for once for all who wait for it, renewed before it ends.

mod desk;

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clock::{Monotonic, SharedClock};
use provider_http::header::HeaderValue;
use provider_http::{NoReply, Transport};

use crate::settings::{ReloadlySettings, SettingsError};
use desk::Desk;

/// The longest margin before its end in which a token is renewed; of a short-lived one, a tenth of its life.
const MARGIN_MAX: Duration = Duration::from_mins(5);

/// Whoever renews a token that is still good waits for this part of the time that it has, and no longer: a second of ten, since
/// an order that waits here must leave before its gate closes.
const AHEAD: u32 = 10;

/// How long a token that could not be renewed is used before that is tried again.
const PAUSE: Duration = Duration::from_secs(30);

/// Leave to put one request: what goes into its `Authorization` header.
#[derive(Clone)]
pub(crate) struct Pass {
    /// Marked as sensitive.
    pub(crate) header: HeaderValue,
    /// Which token this is.
    number: u64,
}

/// Why there is no leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoAccess {
    #[error("the vendor does not accept our credentials")]
    Denied,
    #[error("no access token came")]
    NoReply(#[source] NoReply),
    #[error("the answer to our credentials is no access token")]
    Unreadable,
}

/// Keeps the token.
#[derive(Debug)]
pub(crate) struct Access {
    desk: Desk,
    clock: SharedClock,
    state: Mutex<State>,
    /// Held by whoever asks for a token.
    flight: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    held: Option<Held>,
    /// Requests for a token that have ended.
    flights: u64,
    /// How the last of them failed, if it did.
    failed: Option<NoAccess>,
}

#[derive(Debug)]
struct Held {
    pass: Pass,
    renew_from: Monotonic,
    ends_at: Monotonic,
}

/// What is there to be used.
enum Found {
    Good(Pass),
    /// Good, but to be renewed by whoever comes first.
    Ageing(Pass),
    Nothing,
}

impl Access {
    pub(crate) fn new(settings: &ReloadlySettings, clock: SharedClock) -> Result<Self, SettingsError> {
        Ok(Self {
            desk: Desk::new(settings)?,
            clock,
            state: Mutex::default(),
            flight: tokio::sync::Mutex::default(),
        })
    }

    /// A pass that is good for a while. Whoever comes while one is asked for waits for that one, and shares
    /// what comes of it.
    pub(crate) async fn pass(&self, transport: &Transport, within: Duration) -> Result<Pass, NoAccess> {
        let flights_seen = match self.found() {
            (Found::Good(pass), _) => return Ok(pass),
            (Found::Ageing(pass), _) => return Ok(self.renewed(pass, transport, within).await),
            (Found::Nothing, flights) => flights,
        };
        let _flight = self.flight.lock().await;
        match self.found() {
            (Found::Good(pass) | Found::Ageing(pass), _) => return Ok(pass),
            (Found::Nothing, flights) if flights == flights_seen => {}
            (Found::Nothing, _) => {
                if let Some(failed) = self.state().failed {
                    return Err(failed);
                }
            }
        }
        self.fly(transport, within).await
    }

    /// Has the next one ask for a new token, unless somebody already has.
    pub(crate) fn give_up(&self, pass: &Pass) {
        let mut state = self.state();
        if state.held.as_ref().is_some_and(|held| held.pass.number == pass.number) {
            state.held = None;
        }
    }

    /// A new pass in the place of an ageing one, or the ageing one while somebody else is at it or none is
    /// to be had.
    async fn renewed(&self, ageing: Pass, transport: &Transport, within: Duration) -> Pass {
        let Ok(_flight) = self.flight.try_lock() else { return ageing };
        match self.found() {
            (Found::Good(pass), _) => pass,
            (Found::Ageing(_) | Found::Nothing, _) => {
                let not_long = within.checked_div(AHEAD).unwrap_or(within);
                self.fly(transport, not_long).await.unwrap_or(ageing)
            }
        }
    }

    /// Asks for a token. The caller holds the flight.
    async fn fly(&self, transport: &Transport, within: Duration) -> Result<Pass, NoAccess> {
        let asked_at = self.clock.monotonic();
        let granted = self.desk.ask(transport, within).await;
        let mut state = self.state();
        state.flights = state.flights.saturating_add(1);
        state.failed = granted.as_ref().err().copied();
        match granted {
            Ok(grant) => {
                let pass = Pass { header: grant.header, number: state.flights };
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
        (found, state.flights)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    /// Counted from before the question, so that the token never ends earlier than we think.
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
