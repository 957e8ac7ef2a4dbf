//! The time chain: lengths that are safe only in this order.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use crate::RetryPlan;

/// How long each part of a purchase may take. Scaled down in tests, never reordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// From before the reserve until the order must have left.
    pub gate: Duration,
    /// From the request's arrival until the order must have left.
    pub intake: Duration,
    /// The total deadline of one vend request.
    pub provider_timeout: Duration,
    /// How long a holder of a purchase is left alone with it.
    pub lease: Duration,
    /// From the last send of any copy until "no record" may mean anything.
    pub quarantine: Duration,
    /// Between two answers of "no record" that count.
    pub not_found_gap: Duration,
    /// From the first send until nothing is sent any more.
    pub window: Duration,
    /// When the worker looks again, and attempts again.
    pub plan: RetryPlan,
}

/// The chain is out of order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{shorter} must be shorter than {longer}")]
pub struct TimingError {
    /// What is too long.
    pub shorter: &'static str,
    /// What it must stay below.
    pub longer: &'static str,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            gate: Duration::from_secs(5),
            intake: Duration::from_secs(20),
            provider_timeout: Duration::from_mins(2),
            lease: Duration::from_secs(185),
            quarantine: Duration::from_mins(10),
            not_found_gap: Duration::from_mins(1),
            window: Duration::from_mins(30),
            plan: RetryPlan::default(),
        }
    }
}

impl Timing {
    /// Vend requests that a managed purchase may cause after its first (specification, section 8).
    pub const MANAGED_REQUESTS_MAX: u8 = 5;

    /// Checked at start-up: `gate < intake < provider_timeout < lease < quarantine < window`; a vend that
    /// leaves at the last moment of the gate is over within its lease; and there is a gap between
    /// not-founds, which fits the window; and the plan is in order, and fits it too.
    pub fn checked(self) -> Result<Self, TimingError> {
        let chain = [
            ("gate", self.gate),
            ("intake", self.intake),
            ("provider_timeout", self.provider_timeout),
            ("lease", self.lease),
            ("quarantine", self.quarantine),
            ("window", self.window),
        ];
        for ((shorter, length), (longer, bound)) in chain.iter().zip(chain.iter().skip(1)) {
            if length >= bound {
                return Err(TimingError { shorter, longer });
            }
        }
        if self.not_found_gap >= self.window {
            return Err(TimingError { shorter: "not_found_gap", longer: "window" });
        }
        if self.not_found_gap.is_zero() {
            return Err(TimingError { shorter: "nothing", longer: "not_found_gap" });
        }
        if self.gate.saturating_add(self.provider_timeout) >= self.lease {
            return Err(TimingError { shorter: "gate and provider_timeout together", longer: "lease" });
        }
        self.plan.check(self.window)?;
        Ok(self)
    }
}

/// `at` plus `length`; the end of time where that is beyond it.
pub(crate) fn after(at: DateTime<Utc>, length: Duration) -> DateTime<Utc> {
    TimeDelta::from_std(length)
        .ok()
        .and_then(|delta| at.checked_add_signed(delta))
        .unwrap_or(DateTime::<Utc>::MAX_UTC)
}

/// `at` less `length`; the beginning of time where that is before it.
pub(crate) fn before(at: DateTime<Utc>, length: Duration) -> DateTime<Utc> {
    TimeDelta::from_std(length)
        .ok()
        .and_then(|delta| at.checked_sub_signed(delta))
        .unwrap_or(DateTime::<Utc>::MIN_UTC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_chain_is_in_order_and_outlasts_the_delayed_meter() {
        let timing = Timing::default().checked().unwrap();
        assert!(timing.provider_timeout > Duration::from_secs(95));
    }

    #[test]
    fn a_vend_that_leaves_late_must_still_be_over_within_its_lease() {
        let timing = Timing { lease: Duration::from_secs(125), ..Timing::default() };
        assert!(timing.checked().is_err());
        assert!(Timing { lease: Duration::from_secs(126), ..timing }.checked().is_ok());
    }

    #[test]
    fn one_answer_is_never_its_own_second() {
        let timing = Timing { not_found_gap: Duration::ZERO, ..Timing::default() };
        assert!(timing.checked().is_err());
    }

    #[test]
    fn a_lease_shorter_than_a_vend_is_refused() {
        let timing = Timing { lease: Duration::from_mins(2), ..Timing::default() };
        assert_eq!(timing.checked(), Err(TimingError { shorter: "provider_timeout", longer: "lease" }));
    }
}
