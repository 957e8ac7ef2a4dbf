//! Rate limits for callers, and the delay between password guesses.
//!
//! All state is kept in this process. Behind a load balancer, several servers admit a corresponding multiple. A request
//! that is refused here is refused before anything in it is acted upon: no money has moved.

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

use crate::{ApiError, RequestContext, SharedState, WebSettingsError};

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
    /// One permit for each answer that is held back.
    held_back: Semaphore,
}

/// The kinds of requests that are counted for each address, each kind separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    Login,
    Refresh,
    /// A request that needs an access token and has none that is known to be valid.
    UnknownToken,
    /// A request that is refused before anything above applies to it.
    Malformed,
}

/// The delay of a refusal to an address that exceeds its limit. A sender that waits for each answer is slowed down,
/// whatever a refusal costs here. A sender that does not wait gains nothing.
const HELD_BACK: Duration = Duration::from_secs(1);

/// The maximum number of answers that are held back at once. Further answers are sent immediately.
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

    /// Delays the answer to a sender that exceeds its limit.
    pub(crate) async fn hold_back(&self) {
        if let Ok(_permit) = self.held_back.try_acquire() {
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
    let (shared, context) = (SharedState::of(request), RequestContext::of(request));
    context.count();
    judge(&context, shared.limits.clients.as_ref().map(|clients| clients.admit(client_id, now(&shared))))
}

/// Counts a request of a caller of which only the address is known.
pub(crate) fn admit_address(
    shared: &SharedState,
    context: &RequestContext,
    counted: Counted,
) -> Result<(), ApiError> {
    context.count();
    let buckets = shared.limits.of_addresses(counted);
    let admission = buckets.map(|addresses| addresses.admit(context.origin(), now(shared)));
    let is_silent = matches!(counted, Counted::Malformed | Counted::UnknownToken);
    if is_silent && matches!(admission, Some(Admission::Admitted { .. })) {
        // These limits are not shown until they are exceeded, so that the answers of the Current surface stay as they
        // are.
        return Ok(());
    }
    let judged = judge(context, admission);
    if judged.is_err() {
        context.hold_back();
    }
    judged
}

/// Takes back the count of a request that should not have been counted.
pub(crate) fn give_back(shared: &SharedState, context: &RequestContext, counted: Counted) {
    if let Some(addresses) = shared.limits.of_addresses(counted) {
        addresses.give_back(context.origin(), now(shared));
    }
}

fn judge(context: &RequestContext, admission: Option<Admission>) -> Result<(), ApiError> {
    match admission {
        None => Ok(()),
        Some(Admission::Admitted { allowance, .. }) => {
            context.allow(allowance);
            Ok(())
        }
        Some(Admission::Refused { wait, allowance }) => {
            context.allow(allowance);
            Err(ApiError::new(ErrorCode::RateLimited).after(wait))
        }
    }
}

fn now(shared: &SharedState) -> Monotonic {
    shared.clock().monotonic()
}

impl Allowance {
    /// The header fields of draft-ietf-httpapi-ratelimit-headers, in the form that clients know: the burst, what is
    /// left of it, and the whole seconds until it is full again.
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
