//! The settings of this crate: the environment that a deployment serves, and lifetimes.

use std::time::Duration;

use chrono::TimeDelta;
use directory::Environment;
use secrecy::SecretString;
use serde::Deserialize;

use crate::successors::SuccessorKey;

/// With a longer cache time, a revoked token would be accepted for longer than the documentation promises.
const CACHE_MS_MAX: u64 = 5_000;

/// The maximum number of hashing threads, each with 19 MiB.
const CHECKS_AT_ONCE_MAX: usize = 256;

/// The environment that a server serves, and the lifetimes of what it issues.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdentitySettings {
    /// `STAGING` or `PRODUCTION`. Credentials of the other environment are refused.
    pub environment: Environment,
    /// 64 hexadecimal digits, the same in every process. The successors of refresh tokens are derived with it.
    pub refresh_key: SecretString,
    /// How long an access token is valid.
    #[serde(default = "default::access_lifetime_s")]
    pub access_lifetime_s: u32,
    /// How long an unused refresh token is valid.
    #[serde(default = "default::refresh_idle_lifetime_s")]
    pub refresh_idle_lifetime_s: u32,
    /// The maximum lifetime of everything that is refreshed from one login.
    #[serde(default = "default::family_lifetime_s")]
    pub family_lifetime_s: u32,
    /// How long a client that missed the answer may repeat a refresh.
    #[serde(default = "default::refresh_grace_s")]
    pub refresh_grace_s: u32,
    /// The minimum time until credentials are refused, so that the time reveals nothing about the reason.
    #[serde(default = "default::refusal_floor_ms")]
    pub refusal_floor_ms: u64,
    /// How long a caller is remembered without asking the database again. Zero always asks. A revoked token is accepted
    /// for this long.
    #[serde(default = "default::cache_ms")]
    pub cache_ms: u64,
    /// How many callers are remembered, and how many tokens that were refused.
    #[serde(default = "default::cache_max")]
    pub cache_max: usize,
    /// How many passwords are checked at the same time. Each check takes a core for about 20 ms, and 19 MiB of memory
    /// that is allocated when the process starts.
    #[serde(default = "default::password_checks_at_once")]
    pub password_checks_at_once: usize,
    /// How many logins of proven clients may wait for their password check. Further logins are refused. At most half of
    /// the waiting ones may be of one client.
    #[serde(default = "default::password_queue_max")]
    pub password_queue_max: usize,
}

/// Why settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum IdentitySettingsError {
    /// The key is not 64 hexadecimal digits.
    // Without the decoder's message, because it names a character of the key.
    #[error("refresh_key is not 64 hexadecimal digits")]
    Key,
    /// A duration or a number is impossible, alone or together with the others.
    #[error("{name} must be {required}")]
    Length { name: &'static str, required: &'static str },
}

impl IdentitySettings {
    /// The defaults, for one environment and one key.
    pub fn new(environment: Environment, refresh_key: SecretString) -> Self {
        Self {
            environment,
            refresh_key,
            access_lifetime_s: default::access_lifetime_s(),
            refresh_idle_lifetime_s: default::refresh_idle_lifetime_s(),
            family_lifetime_s: default::family_lifetime_s(),
            refresh_grace_s: default::refresh_grace_s(),
            refusal_floor_ms: default::refusal_floor_ms(),
            cache_ms: default::cache_ms(),
            cache_max: default::cache_max(),
            password_checks_at_once: default::password_checks_at_once(),
            password_queue_max: default::password_queue_max(),
        }
    }

    /// Checks the settings at start-up.
    ///
    /// # Errors
    /// If they contradict each other, or if their key is malformed.
    pub fn checked(&self) -> Result<(), IdentitySettingsError> {
        SuccessorKey::from_hex(&self.refresh_key)?;
        self.check()
    }

    /// The names of the settings that are zero and must not be.
    pub fn zeros(&self) -> impl Iterator<Item = &'static str> {
        let lengths =
            [("cache_max", self.cache_max == 0), ("password_queue_max", self.password_queue_max == 0)];
        lengths.into_iter().filter_map(|(name, is_zero)| is_zero.then_some(name))
    }

    pub(crate) fn check(&self) -> Result<(), IdentitySettingsError> {
        let refuse = |name, required| Err(IdentitySettingsError::Length { name, required });
        if self.access_lifetime_s == 0 || self.access_lifetime_s > self.refresh_idle_lifetime_s {
            return refuse("access_lifetime_s", "above 0 and no longer than refresh_idle_lifetime_s");
        }
        if self.refresh_idle_lifetime_s > self.family_lifetime_s {
            return refuse("refresh_idle_lifetime_s", "no longer than family_lifetime_s");
        }
        if self.refresh_grace_s > self.access_lifetime_s {
            return refuse("refresh_grace_s", "no longer than access_lifetime_s");
        }
        if self.cache_ms > CACHE_MS_MAX {
            return refuse("cache_ms", "at most 5000");
        }
        if !(1..=CHECKS_AT_ONCE_MAX).contains(&self.password_checks_at_once) {
            return refuse("password_checks_at_once", "from 1 to 256");
        }
        Ok(())
    }

    pub(crate) fn access_lifetime(&self) -> TimeDelta {
        TimeDelta::seconds(self.access_lifetime_s.into())
    }

    pub(crate) fn idle_lifetime(&self) -> TimeDelta {
        TimeDelta::seconds(self.refresh_idle_lifetime_s.into())
    }

    pub(crate) fn family_lifetime(&self) -> TimeDelta {
        TimeDelta::seconds(self.family_lifetime_s.into())
    }

    pub(crate) fn grace(&self) -> TimeDelta {
        TimeDelta::seconds(self.refresh_grace_s.into())
    }

    pub(crate) fn refusal_floor(&self) -> Duration {
        Duration::from_millis(self.refusal_floor_ms)
    }

    pub(crate) fn cache(&self) -> Duration {
        Duration::from_millis(self.cache_ms)
    }
}

mod default {
    pub(super) const fn access_lifetime_s() -> u32 {
        900
    }

    pub(super) const fn refresh_idle_lifetime_s() -> u32 {
        7 * 24 * 60 * 60
    }

    pub(super) const fn family_lifetime_s() -> u32 {
        30 * 24 * 60 * 60
    }

    pub(super) const fn refresh_grace_s() -> u32 {
        60
    }

    pub(super) const fn refusal_floor_ms() -> u64 {
        250
    }

    pub(super) const fn cache_ms() -> u64 {
        5_000
    }

    pub(super) const fn cache_max() -> usize {
        10_000
    }

    pub(super) const fn password_checks_at_once() -> usize {
        2
    }

    pub(super) const fn password_queue_max() -> usize {
        100
    }
}
