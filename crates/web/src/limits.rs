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

use actix_web::{
    HttpRequest,
    http::header::{HeaderMap, HeaderName, HeaderValue},
};

use clock::Monotonic;
use error_codes::ErrorCode;

use crate::{ApiError, Front, Visit, WebSettingsError};

pub use settings::{LimitSettings, RateSettings};

pub(crate) use guesses::{Guesses, Turn};
pub(crate) use network::Network;
pub(crate) use rate::Allowance;

use buckets::Buckets;
use network::Proxies;
use rate::Admission;

/// The limits of this process.
#[derive(Debug)]
pub(crate) struct Limits {
    proxies: Proxies,
    clients: Option<Buckets<i64>>,
    addresses: Option<Buckets<Network>>,
    /// `None`: guessing is not slowed down.
    pub(crate) guesses: Option<Guesses>,
}

impl Limits {
    pub(crate) fn new(settings: &LimitSettings, proxies: &[String]) -> Result<Self, WebSettingsError> {
        let max = settings.remembered_max;
        Ok(Self {
            proxies: Proxies::parse(proxies)?,
            clients: settings.client.rate().map(|rate| Buckets::new(rate, max)),
            addresses: settings.address.rate().map(|rate| Buckets::new(rate, max)),
            guesses: settings.guesses(),
        })
    }
}

/// Counts a request of this OAuth client.
pub(crate) fn admit_client(request: &HttpRequest, client_id: i64) -> Result<(), ApiError> {
    let front = Front::of(request);
    judge(request, front.limits.clients.as_ref().map(|clients| clients.admit(client_id, now(&front))))
}

/// Counts a request of somebody of whom nothing is known but where they are.
pub(crate) fn admit_stranger(request: &HttpRequest) -> Result<Network, ApiError> {
    let front = Front::of(request);
    let (limits, now) = (&front.limits, now(&front));
    let origin = limits.proxies.origin(request, now);
    judge(request, limits.addresses.as_ref().map(|addresses| addresses.admit(origin, now)))?;
    Ok(origin)
}

fn judge(request: &HttpRequest, admission: Option<Admission>) -> Result<(), ApiError> {
    match admission {
        None => Ok(()),
        Some(Admission::Admitted { allowance, .. }) => {
            Visit::of(request).allow(allowance);
            Ok(())
        }
        Some(Admission::Refused { wait, allowance }) => {
            Visit::of(request).allow(allowance);
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
