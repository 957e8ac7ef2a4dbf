//! What the operator sets about limits.

use std::time::Duration;

use super::{Guesses, rate::Rate};

/// How often somebody may come to one server process. Zero switches a limit off.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitSettings {
    /// For each OAuth client, everywhere where one must be logged in.
    pub client: RateSettings,
    /// For each address (of IPv6, each /64): logins.
    pub login: RateSettings,
    /// For each address: refreshes.
    pub refresh: RateSettings,
    /// For each address: requests with no access token where one is needed, or with one that is not good.
    pub unknown_token: RateSettings,
    /// For each address: requests that nothing above counts and that are refused: unknown paths and methods, heads that
    /// cannot be read.
    pub malformed: RateSettings,
    /// How long the next attempt with the same client secret from the same address waits after a refused login of a
    /// user; twice as long after each. In milliseconds; zero switches it off.
    pub guess_delay_ms: u64,
    /// The longest that this becomes, in milliseconds.
    pub guess_delay_max_ms: u64,
    /// How long a refused login is remembered, in seconds.
    pub guess_forgotten_after_s: u64,
    /// How many clients, addresses (for each of their limits) and guessed users are remembered, of each.
    pub remembered_max: usize,
}

/// So many at once, and then so many a second.
#[derive(Clone, Copy, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateSettings {
    /// How many more may come each second.
    pub per_second: u32,
    /// How many may come at once.
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
