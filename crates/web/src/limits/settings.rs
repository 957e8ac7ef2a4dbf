//! The operator's settings of the limits.

use std::time::Duration;

use super::{Guesses, rate::Rate};

/// The rate limits of one server process. Zero switches a limit off.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitSettings {
    /// For each OAuth client: all requests that need a login.
    pub client: RateSettings,
    /// For each address (of IPv6, each /64): logins.
    pub login: RateSettings,
    /// For each address: refreshes.
    pub refresh: RateSettings,
    /// For each address: requests that need an access token and have none, or an invalid one.
    pub unknown_token: RateSettings,
    /// For each address: refused requests that no limit above counts, such as unknown paths and methods, and heads that
    /// cannot be read.
    pub malformed: RateSettings,
    /// After a refused login of a user: how long the next attempt with the same client secret from the same address
    /// waits. The delay doubles after each. In milliseconds; zero switches it off.
    pub guess_delay_ms: u64,
    /// The maximum of this delay, in milliseconds.
    pub guess_delay_max_ms: u64,
    /// How long a refused login is remembered, in seconds.
    pub guess_forgotten_after_s: u64,
    /// How many clients, addresses (for each of their limits) and guessed users are remembered; the number applies to
    /// each.
    pub remembered_max: usize,
}

/// `burst` requests at once, and then `per_second` more each second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateSettings {
    /// How many more requests may come each second. Zero switches the limit off. Set `burst` with it.
    pub per_second: u32,
    /// How many requests may come at once. Zero switches the limit off. Set `per_second` with it.
    pub burst: u32,
}

const OF_AN_ADDRESS: RateSettings = RateSettings { per_second: 10, burst: 100 };

impl Default for LimitSettings {
    fn default() -> Self {
        Self {
            client: RateSettings { per_second: 500, burst: 1_000 },
            login: OF_AN_ADDRESS,
            refresh: OF_AN_ADDRESS,
            unknown_token: OF_AN_ADDRESS,
            malformed: OF_AN_ADDRESS,
            guess_delay_ms: 250,
            guess_delay_max_ms: 8_000,
            guess_forgotten_after_s: 600,
            remembered_max: 100_000,
        }
    }
}

impl RateSettings {
    pub(super) fn rate(self) -> Option<Rate> {
        Rate::new(self.per_second, self.burst)
    }
}

impl LimitSettings {
    pub(super) fn guesses(&self) -> Option<Guesses> {
        let first = Duration::from_millis(self.guess_delay_ms);
        let longest = Duration::from_millis(self.guess_delay_max_ms);
        let forgotten_after = Duration::from_secs(self.guess_forgotten_after_s);
        (!first.is_zero()).then(|| Guesses::new(first, longest, forgotten_after, self.remembered_max))
    }
}
