//! A rate limit as a token bucket: the generic cell rate algorithm, with one stored moment per bucket.

use std::time::Duration;

use clock::Monotonic;

/// `burst` requests at once, and then one each `interval`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rate {
    interval: Duration,
    burst: u32,
}

/// The state of a bucket after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Allowance {
    /// How many requests may come at once when the bucket is full.
    pub(crate) limit: u32,
    /// How many more requests may come now.
    pub(crate) remaining: u32,
    /// Until the bucket is full, if no request comes.
    pub(crate) full_in: Duration,
}

/// Whether one more request may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    Admitted {
        /// What the bucket must remember: when it will be full, if no request comes.
        full_at: Monotonic,
        allowance: Allowance,
    },
    /// Takes nothing out of the bucket.
    Refused {
        /// After this, one more request may come.
        wait: Duration,
        allowance: Allowance,
    },
}

impl Rate {
    /// `None` where either is zero: no limit.
    pub(crate) fn new(per_second: u32, burst: u32) -> Option<Self> {
        let interval = Duration::from_secs(1).checked_div(per_second)?;
        (burst > 0).then_some(Self { interval, burst })
    }

    /// How long an empty bucket takes to be full, after which it need not be remembered.
    pub(crate) fn full_after(self) -> Duration {
        self.interval.saturating_mul(self.burst)
    }

    /// Admits or refuses a request that comes `now` to the bucket that is full at `full_at`.
    pub(crate) fn admit(self, full_at: Option<Monotonic>, now: Monotonic) -> Admission {
        let lacking = full_at.map_or(Duration::ZERO, |full_at| full_at.elapsed_since(now));
        let lacking_then = lacking.saturating_add(self.interval);
        let wait = lacking_then.saturating_sub(self.full_after());
        match now.checked_add(lacking_then) {
            Some(full_at) if wait.is_zero() => {
                Admission::Admitted { full_at, allowance: self.allowance(lacking_then) }
            }
            Some(_) | None => Admission::Refused { wait, allowance: self.allowance(lacking) },
        }
    }

    /// Takes back one admitted request.
    pub(crate) fn give_back(self, full_at: Monotonic) -> Monotonic {
        Monotonic::from_origin(full_at.since_origin().saturating_sub(self.interval))
    }

    fn allowance(self, lacking: Duration) -> Allowance {
        let left = self.full_after().saturating_sub(lacking).as_nanos();
        let remaining = left.checked_div(self.interval.as_nanos()).unwrap_or_default();
        Allowance {
            limit: self.burst,
            remaining: u32::try_from(remaining).unwrap_or(u32::MAX),
            full_in: lacking,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(since_origin: Duration) -> Monotonic {
        Monotonic::from_origin(since_origin)
    }

    /// Makes one request after each of these pauses, and returns when requests were admitted.
    fn admitted(rate: Rate, pauses: &[u64]) -> Vec<Duration> {
        let (mut now, mut full_at, mut admitted) = (Duration::from_secs(1), None, Vec::new());
        for pause in pauses {
            now += Duration::from_millis(*pause);
            if let Admission::Admitted { full_at: then, .. } = rate.admit(full_at, at(now)) {
                full_at = Some(then);
                admitted.push(now);
            }
        }
        admitted
    }

    #[test]
    fn zero_of_either_is_no_limit() {
        assert_eq!((Rate::new(0, 5), Rate::new(5, 0)), (None, None));
    }

    #[test]
    fn a_full_bucket_lets_a_burst_in_and_then_one_each_interval() {
        let rate = Rate::new(2, 3).unwrap();
        assert_eq!(admitted(rate, &[0, 0, 0, 0, 499, 1, 0, 500, 0, 3_000, 0, 0, 0]).len(), 3 + 1 + 1 + 3);
    }

    #[test]
    fn what_remains_and_how_long_it_takes_to_be_full_is_told() {
        let rate = Rate::new(2, 3).unwrap();
        let now = at(Duration::from_secs(9));
        let Admission::Admitted { full_at, allowance } = rate.admit(None, now) else { panic!("refused") };
        let full_in = Duration::from_millis(500);
        assert_eq!(allowance, Allowance { limit: 3, remaining: 2, full_in });
        assert_eq!(full_at, at(Duration::from_millis(9_500)));
        let empty = at(Duration::from_millis(10_400));
        let nothing = Allowance { limit: 3, remaining: 0, full_in: Duration::from_millis(1_400) };
        let wait = Duration::from_millis(400);
        assert_eq!(rate.admit(Some(empty), now), Admission::Refused { wait, allowance: nothing });
    }

    proptest! {
        #[test]
        fn no_period_admits_more_than_the_burst_and_the_refill_of_that_period(
            per_second in 1_u32..50, burst in 1_u32..20, pauses in prop::collection::vec(0_u64..400, 1..200),
        ) {
            let rate = Rate::new(per_second, burst).unwrap();
            let admitted = admitted(rate, &pauses);
            for (nth, first) in admitted.iter().enumerate() {
                for (last, count) in admitted[nth..].iter().zip(1_u32..) {
                    let flowed = last.saturating_sub(*first).as_nanos() / rate.interval.as_nanos();
                    prop_assert!(u128::from(count) <= u128::from(burst) + flowed);
                }
            }
        }

        #[test]
        fn requests_within_the_rate_are_never_refused(
            per_second in 1_u32..50, burst in 1_u32..20, late in prop::collection::vec(0_u64..100, 1..100),
        ) {
            let rate = Rate::new(per_second, burst).unwrap();
            let pauses: Vec<u64> = late.iter().map(|late| 1_000 / u64::from(per_second) + 1 + late).collect();
            prop_assert_eq!(admitted(rate, &pauses).len(), pauses.len());
        }

        #[test]
        fn a_request_is_admitted_after_the_stated_wait_and_not_before(
            per_second in 1_u32..50, burst in 1_u32..20, before_ms in 0_u64..2_000,
        ) {
            let rate = Rate::new(per_second, burst).unwrap();
            let now = Duration::from_secs(1);
            let full_at = Some(at(now + rate.full_after() + Duration::from_millis(before_ms)));
            let Admission::Refused { wait, .. } = rate.admit(full_at, at(now)) else { panic!("admitted") };
            let admitted = matches!(rate.admit(full_at, at(now + wait)), Admission::Admitted { .. });
            let moment = Duration::from_nanos(1);
            let refused = matches!(rate.admit(full_at, at((now + wait).saturating_sub(moment))), Admission::Refused { .. });
            prop_assert!(admitted && refused);
        }
    }
}
