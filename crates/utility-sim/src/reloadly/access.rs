//! Access control: an access token with a limited lifetime for client credentials.

use std::{
    collections::HashMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use clock::{Monotonic, SharedClock};

use super::{Refusal, TokenRequest};
use crate::settings::AirtimeSettings;

/// The media type that clients must accept.
const MEDIA_TYPE: &str = "application/com.reloadly.topups-v1+json";
/// The path of the interface. An audience must end with it if the settings give no audience.
const PATH: &str = "/reloadly/topups";

/// Checks credentials and stores the access tokens that were issued.
#[derive(Debug)]
pub(super) struct Access {
    settings: AirtimeSettings,
    clock: SharedClock,
    /// When each access token expires.
    granted: Mutex<HashMap<String, Monotonic>>,
    next: AtomicU64,
}

/// An access token and its lifetime.
#[derive(Clone, Debug)]
pub(crate) struct Grant {
    pub(super) access_token: String,
    pub(super) expires_in_s: u64,
}

impl Access {
    pub(super) fn new(settings: AirtimeSettings, clock: SharedClock) -> Self {
        Self { settings, clock, granted: Mutex::default(), next: AtomicU64::new(1) }
    }

    /// Issues an access token to the client of the settings.
    pub(super) fn grant(&self, request: &TokenRequest) -> Result<Grant, Refusal> {
        if request.client_id != self.settings.client_id
            || request.client_secret != self.settings.client_secret
        {
            return Err(Refusal::wrong_credentials());
        }
        if request.grant_type != "client_credentials" {
            return Err(Refusal::wrong_grant_type());
        }
        if !self.serves(&request.audience) {
            return Err(Refusal::wrong_audience());
        }
        let expires_in_s = self.settings.token_lifetime_s;
        // It protects only test money, so it may be predictable. A restarted aggregator does not accept the tokens of
        // an earlier run.
        let started = self.clock.now().timestamp_millis();
        let access_token = format!("airtime-{started:x}-{}", self.next.fetch_add(1, Ordering::Relaxed));
        let now = self.clock.monotonic().since_origin();
        let mut granted = self.granted();
        granted.retain(|_token, until| until.since_origin() > now);
        let until = Monotonic::from_origin(now.saturating_add(Duration::from_secs(expires_in_s)));
        granted.insert(access_token.clone(), until);
        Ok(Grant { access_token, expires_in_s })
    }

    /// Checks the access token and the media type of a request.
    pub(super) fn admit(&self, bearer: Option<&str>, accept: Option<&str>) -> Result<(), Refusal> {
        let until = bearer.and_then(|token| self.granted().get(token).copied());
        if until.is_none_or(|until| until <= self.clock.monotonic()) {
            return Err(Refusal::invalid_token());
        }
        if !accept.is_some_and(|accept| accept.contains(MEDIA_TYPE)) {
            return Err(Refusal::not_acceptable());
        }
        Ok(())
    }

    fn serves(&self, audience: &str) -> bool {
        match &self.settings.audience {
            Some(ours) => ours == audience,
            None => audience.starts_with("http") && audience.trim_end_matches('/').ends_with(PATH),
        }
    }

    fn granted(&self) -> MutexGuard<'_, HashMap<String, Monotonic>> {
        self.granted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
