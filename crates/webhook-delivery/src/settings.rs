//! The settings of delivery.

use std::time::Duration;

use serde::Deserialize;

/// How the worker sends events to webhook endpoints.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DeliverySettings {
    /// How long the worker waits after a look that found nothing due, in milliseconds.
    pub poll_ms: u64,
    /// Longest wait for a connection to an endpoint, in milliseconds.
    pub connect_timeout_ms: u64,
    /// Longest wait for an endpoint's answer, in milliseconds. The body of an answer is not read.
    pub timeout_ms: u64,
    /// How many endpoints this worker sends to at once.
    pub endpoints_at_once: u16,
    /// The same for endpoints that failed or were slow the last time, and for new ones. They take none of the places above.
    pub slow_endpoints_at_once: u16,
    /// How many events are under way to one endpoint at once. They begin in the order of the feed. With 1 the next one begins
    /// when the one before was accepted or set aside.
    pub at_once_per_endpoint: u16,
    /// After how long the worker begins no more events for an endpoint and gives it back, in milliseconds.
    pub round_ms: u64,
    /// How long a worker has an endpoint to itself, in milliseconds. More than twice the sum of `round_ms` and `timeout_ms`.
    pub lease_ms: u64,
    /// An endpoint whose answers take longer than this on average is slow, in milliseconds.
    pub slow_after_ms: u64,
    /// The longest rest of an endpoint that accepts nothing, in milliseconds. The first rest is 5 seconds, and each next one twice
    /// as long.
    pub longest_rest_ms: u64,
    /// An endpoint that has accepted nothing for so many seconds is switched off.
    pub switch_off_after_s: u64,
}

/// Why the settings cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeliverySettingsError {
    /// Another worker could take an endpoint that the first one is still sending to.
    #[error("webhook_delivery.lease_ms must be more than twice the sum of round_ms and timeout_ms")]
    ShortLease,
}

impl DeliverySettings {
    /// Checks that the settings can be used together.
    pub const fn checked(&self) -> Result<(), DeliverySettingsError> {
        if self.round_ms.saturating_add(self.timeout_ms).saturating_mul(2) >= self.lease_ms {
            return Err(DeliverySettingsError::ShortLease);
        }
        Ok(())
    }

    /// The names of the settings that are zero and must not be.
    pub fn zeros(&self) -> impl Iterator<Item = &'static str> {
        let lengths = [
            ("poll_ms", self.poll_ms == 0),
            ("connect_timeout_ms", self.connect_timeout_ms == 0),
            ("timeout_ms", self.timeout_ms == 0),
            ("endpoints_at_once", self.endpoints_at_once == 0),
            ("slow_endpoints_at_once", self.slow_endpoints_at_once == 0),
            ("at_once_per_endpoint", self.at_once_per_endpoint == 0),
            ("round_ms", self.round_ms == 0),
            ("switch_off_after_s", self.switch_off_after_s == 0),
        ];
        lengths.into_iter().filter_map(|(name, is_zero)| is_zero.then_some(name))
    }

    pub(crate) const fn poll(&self) -> Duration {
        Duration::from_millis(self.poll_ms)
    }

    pub(crate) const fn lease(&self) -> Duration {
        Duration::from_millis(self.lease_ms)
    }

    pub(crate) const fn round(&self) -> Duration {
        Duration::from_millis(self.round_ms)
    }

    pub(crate) const fn slow_after(&self) -> Duration {
        Duration::from_millis(self.slow_after_ms)
    }

    pub(crate) const fn longest_rest(&self) -> Duration {
        Duration::from_millis(self.longest_rest_ms)
    }

    pub(crate) const fn switch_off_after(&self) -> Duration {
        Duration::from_secs(self.switch_off_after_s)
    }
}

impl Default for DeliverySettings {
    fn default() -> Self {
        Self {
            poll_ms: 1_000,
            connect_timeout_ms: 5_000,
            timeout_ms: 15_000,
            endpoints_at_once: 32,
            slow_endpoints_at_once: 16,
            at_once_per_endpoint: 8,
            round_ms: 10_000,
            lease_ms: 60_000,
            slow_after_ms: 2_000,
            longest_rest_ms: 300_000,
            switch_off_after_s: 5 * 86_400,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_can_be_used_and_a_lease_that_is_too_short_cannot() {
        assert_eq!(DeliverySettings::default().checked(), Ok(()));
        assert_eq!(DeliverySettings::default().zeros().count(), 0);
        let short = DeliverySettings { lease_ms: 50_000, ..DeliverySettings::default() };
        assert_eq!(short.checked(), Err(DeliverySettingsError::ShortLease));
        let still = DeliverySettings { poll_ms: 0, at_once_per_endpoint: 0, ..DeliverySettings::default() };
        assert_eq!(still.zeros().collect::<Vec<_>>(), ["poll_ms", "at_once_per_endpoint"]);
    }
}
