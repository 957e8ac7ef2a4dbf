//! The time chain: lengths that are safe only in this order.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use crate::RetryPlan;

/// How long a reference that retry has closed is stored. The store deletes none sooner.
const CLOSINGS_KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// How long each part of a purchase may take. The lengths are scaled down in tests, but never reordered.
///
/// | Length | By default | | Length | By default |
/// |---|---|---|---|---|
/// | `gate` | 1.8 s | | `not_found_gap` | 60 s |
/// | `intake` | 20 s | | `reference_rest` | 60 s |
/// | `provider_timeout` | 2 min | | `window` | 30 min |
/// | `lease` | 2 s | | `plan` | [that of `RetryPlan`](RetryPlan) |
/// | `enquiry_gap` | 1 s | | | |
///
/// ```
/// use std::time::Duration;
/// use purchase::{RetryPlan, Timing};
///
/// let timing = Timing {
///     gate: Duration::from_millis(1_800),
///     intake: Duration::from_secs(20),
///     provider_timeout: Duration::from_secs(120),
///     lease: Duration::from_secs(2),
///     enquiry_gap: Duration::from_secs(1),
///     not_found_gap: Duration::from_secs(60),
///     reference_rest: Duration::from_secs(60),
///     window: Duration::from_secs(30 * 60),
///     plan: RetryPlan::default(),
/// };
/// assert_eq!(timing, Timing::default());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// From before the reserve until the order must have been sent.
    pub gate: Duration,
    /// From the request's arrival until the order must have been sent.
    pub intake: Duration,
    /// The total deadline of one vend request.
    pub provider_timeout: Duration,
    /// How long no other process may take a purchase over from its holder. A holder that works longer renews its
    /// lease.
    pub lease: Duration,
    /// The gap between two enquiries about one purchase that integrators' questions cause.
    pub enquiry_gap: Duration,
    /// The gap between two answers of "no record" that count.
    pub not_found_gap: Duration,
    /// How long no confirm buys under a reference about which a retry has answered "not found" or "failed".
    pub reference_rest: Duration,
    /// From the first send until nothing is sent any more.
    pub window: Duration,
    /// When the worker looks again, and attempts again.
    pub plan: RetryPlan,
}

/// Two lengths of the chain are out of order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{shorter} must be shorter than {longer}")]
pub struct TimingError {
    /// The length that is too long.
    pub shorter: &'static str,
    /// The length that it must be shorter than.
    pub longer: &'static str,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            gate: Duration::from_millis(1_800),
            intake: Duration::from_secs(20),
            provider_timeout: Duration::from_secs(2 * 60),
            lease: Duration::from_secs(2),
            enquiry_gap: Duration::from_secs(1),
            not_found_gap: Duration::from_secs(60),
            reference_rest: Duration::from_secs(60),
            window: Duration::from_secs(30 * 60),
            plan: RetryPlan::default(),
        }
    }
}

impl Timing {
    /// Vend requests that a managed purchase may cause after its first.
    pub const MANAGED_REQUESTS_MAX: u8 = 5;

    /// How long a request may be in progress after it is recorded: it is sent at the last moment of the gate, and
    /// takes the whole `provider_timeout`.
    pub const fn longest_send(&self) -> Duration {
        self.gate.saturating_add(self.provider_timeout)
    }

    /// How often a holder renews its lease: early enough that one renewal may fail.
    pub fn renewal(&self) -> Duration {
        self.lease / 3
    }

    /// Checked at start-up: `gate < intake < provider_timeout < window`. A request is sent within the first lease,
    /// and is over before the window closes. The gap between two enquiries and the gap between two answers of "no
    /// record" are not zero and are shorter than the window. The rest of a reference is not zero and is shorter than
    /// the time for which a closed reference is stored. The plan is in order and fits the window too.
    pub fn checked(self) -> Result<Self, TimingError> {
        let ordered = [
            (("gate", self.gate), ("intake", self.intake)),
            (("intake", self.intake), ("provider_timeout", self.provider_timeout)),
            (("gate", self.gate), ("lease", self.lease)),
            (("gate and provider_timeout together", self.longest_send()), ("window", self.window)),
            (("enquiry_gap", self.enquiry_gap), ("window", self.window)),
            (("not_found_gap", self.not_found_gap), ("window", self.window)),
            (("reference_rest", self.reference_rest), ("a day, for which closings are kept", CLOSINGS_KEPT)),
            (("nothing", Duration::ZERO), ("reference_rest", self.reference_rest)),
            (("nothing", Duration::ZERO), ("enquiry_gap", self.enquiry_gap)),
            (("nothing", Duration::ZERO), ("not_found_gap", self.not_found_gap)),
        ];
        for ((shorter, length), (longer, bound)) in ordered {
            if length >= bound {
                return Err(TimingError { shorter, longer });
            }
        }
        self.plan.check(self.window)?;
        Ok(self)
    }
}

/// `at` plus `length`, or the latest possible time if that is beyond it.
pub(crate) fn after(at: DateTime<Utc>, length: Duration) -> DateTime<Utc> {
    TimeDelta::from_std(length)
        .ok()
        .and_then(|delta| at.checked_add_signed(delta))
        .unwrap_or(DateTime::<Utc>::MAX_UTC)
}

/// `at` less `length`, or the earliest possible time if that is before it.
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
    fn an_order_leaves_within_its_first_lease() {
        let timing = Timing { lease: Duration::from_millis(1_800), ..Timing::default() };
        assert_eq!(timing.checked(), Err(TimingError { shorter: "gate", longer: "lease" }));
    }

    #[test]
    fn a_vend_that_leaves_late_is_over_before_the_window_closes() {
        let timing = Timing { window: Duration::from_secs(121), ..Timing::default() };
        let both = "gate and provider_timeout together";
        assert_eq!(timing.checked(), Err(TimingError { shorter: both, longer: "window" }));
    }

    #[test]
    fn one_answer_is_never_its_own_second() {
        let timing = Timing { not_found_gap: Duration::ZERO, ..Timing::default() };
        assert!(timing.checked().is_err());
        let timing = Timing { enquiry_gap: Duration::ZERO, ..Timing::default() };
        assert!(timing.checked().is_err());
    }

    #[test]
    fn a_reference_rests_for_some_time_and_for_less_than_its_closing_is_kept() {
        for reference_rest in [Duration::ZERO, Duration::from_secs(24 * 60 * 60)] {
            let timing = Timing { reference_rest, ..Timing::default() };
            assert!(timing.checked().is_err(), "{reference_rest:?}");
        }
    }
}
