//! How often somebody may come, and how fast somebody may guess.
//!
//! All of it is kept in this process: behind a balancer, so many servers admit so many times as much. Whoever
//! is refused here is refused before anything of theirs is acted upon: no money has moved.

mod buckets;
mod generations;
mod guesses;
mod network;
mod rate;
mod settings;

use std::time::Duration;

use actix_web::{
    HttpRequest,
    http::header::{HeaderMap, HeaderName, HeaderValue},
};
use tokio::sync::Semaphore;

use clock::Monotonic;
use error_codes::ErrorCode;

use crate::{ApiError, Front, Visit, WebSettingsError};

pub use settings::{LimitSettings, RateSettings};

pub(crate) use guesses::{Guesses, Turn};
pub(crate) use network::{FORWARDED_FOR, Network};
pub(crate) use rate::Allowance;

use buckets::Buckets;
use network::Proxies;
use rate::Admission;

/// The limits of this process.
#[derive(Debug)]
pub(crate) struct Limits {
    proxies: Proxies,
    clients: Option<Buckets<i64>>,
    logins: Option<Buckets<Network>>,
    refreshes: Option<Buckets<Network>>,
    unknown_tokens: Option<Buckets<Network>>,
    malformed: Option<Buckets<Network>>,
    /// `None`: guessing is not slowed down.
    pub(crate) guesses: Option<Guesses>,
    /// One for each answer that is held back.
    held_back: Semaphore,
}

/// What is counted for each address, and each apart from the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    Login,
    Refresh,
    /// A request that needs an access token and comes with none that is known to be good.
    UnknownToken,
    /// A request that is refused before anything above applies to it.
    Malformed,
}

/// Whoever exceeds the limit of an address is told so after this long. A sender that waits for each answer is slowed down,
/// whatever a refusal costs here; one that does not wait has gained nothing.
const HELD_BACK: Duration = Duration::from_secs(1);

/// More than so many answers are never held back at once; those beyond leave at once.
const HELD_BACK_MAX: usize = 1_000;

impl Limits {
    pub(crate) fn new(settings: &LimitSettings, proxies: &[String]) -> Result<Self, WebSettingsError> {
        let max = settings.remembered_max;
        let of_addresses = |limit: RateSettings| limit.rate().map(|rate| Buckets::new(rate, max));
        Ok(Self {
            proxies: Proxies::parse(proxies)?,
            clients: settings.client.rate().map(|rate| Buckets::new(rate, max)),
            logins: of_addresses(settings.login),
            refreshes: of_addresses(settings.refresh),
            unknown_tokens: of_addresses(settings.unknown_token),
            malformed: of_addresses(settings.malformed),
            guesses: settings.guesses(),
            held_back: Semaphore::new(HELD_BACK_MAX),
        })
    }

    /// The network that a request comes from.
    pub(crate) fn origin(&self, request: &HttpRequest, now: Monotonic) -> Network {
        self.proxies.origin(request, now)
    }

    /// Waits before an answer to somebody who comes too often leaves.
    pub(crate) async fn hold_back(&self) {
        if let Ok(_place) = self.held_back.try_acquire() {
            tokio::time::sleep(HELD_BACK).await;
        }
    }

    const fn of_addresses(&self, counted: Counted) -> Option<&Buckets<Network>> {
        match counted {
            Counted::Login => self.logins.as_ref(),
            Counted::Refresh => self.refreshes.as_ref(),
            Counted::UnknownToken => self.unknown_tokens.as_ref(),
            Counted::Malformed => self.malformed.as_ref(),
        }
    }
}

/// Counts a request of this OAuth client.
pub(crate) fn admit_client(request: &HttpRequest, client_id: i64) -> Result<(), ApiError> {
    let (front, visit) = (Front::of(request), Visit::of(request));
    visit.count();
    judge(&visit, front.limits.clients.as_ref().map(|clients| clients.admit(client_id, now(&front))))
}

/// Counts a request of somebody of whom nothing is known but where they are.
pub(crate) fn admit_address(front: &Front, visit: &Visit, counted: Counted) -> Result<(), ApiError> {
    visit.count();
    let buckets = front.limits.of_addresses(counted);
    let admission = buckets.map(|addresses| addresses.admit(visit.origin(), now(front)));
    let is_silent = matches!(counted, Counted::Malformed | Counted::UnknownToken);
    if is_silent && matches!(admission, Some(Admission::Admitted { .. })) {
        // Nothing is said of these limits until they are exceeded: answers of the frozen surface stay as they are.
        return Ok(());
    }
    let judged = judge(visit, admission);
    if judged.is_err() {
        visit.hold_back();
    }
    judged
}

/// The request was counted by mistake.
pub(crate) fn give_back(front: &Front, visit: &Visit, counted: Counted) {
    if let Some(addresses) = front.limits.of_addresses(counted) {
        addresses.give_back(visit.origin(), now(front));
    }
}

fn judge(visit: &Visit, admission: Option<Admission>) -> Result<(), ApiError> {
    match admission {
        None => Ok(()),
        Some(Admission::Admitted { allowance, .. }) => {
            visit.allow(allowance);
            Ok(())
        }
        Some(Admission::Refused { wait, allowance }) => {
            visit.allow(allowance);
            Err(ApiError::new(ErrorCode::RateLimited).after(wait))
        }
    }
}

fn now(front: &Front) -> Monotonic {
    front.clock().monotonic()
}

impl Allowance {
    /// The header fields of draft-ietf-httpapi-ratelimit-headers, in the form that clients know: the burst, what
    /// is left of it, and the whole seconds until it is all there again.
    pub(crate) fn mark(self, headers: &mut HeaderMap) {
        let full_in_s = self.full_in.as_secs().saturating_add(u64::from(self.full_in.subsec_nanos() > 0));
        let fields = [
            ("ratelimit-limit", u64::from(self.limit)),
            ("ratelimit-remaining", u64::from(self.remaining)),
            ("ratelimit-reset", full_in_s),
        ];
        for (name, value) in fields {
            headers.insert(HeaderName::from_static(name), HeaderValue::from(value));
        }
    }
}
