//! The machine's clock. No other code in the workspace reads the time.
//!
//! Monotonic time continues while the machine is suspended. A server that wakes up after an hour must notice
//! that: other processes have settled its pending sends long ago.

use std::time::{Duration, SystemTime};

use chrono::{DateTime, Utc};
use rustix::time::{ClockId, clock_gettime};

use crate::{Clock, Monotonic};

/// Counts from the start of the machine, suspensions included.
#[cfg(target_os = "linux")]
const SINCE_START: ClockId = ClockId::Boottime;
/// Other systems use the plain monotonic clock. On macOS it counts suspensions too.
#[cfg(not(target_os = "linux"))]
const SINCE_START: ClockId = ClockId::Monotonic;

/// The machine's own wall and monotonic time.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the wall clock")]
    fn now(&self) -> DateTime<Utc> {
        SystemTime::now().into()
    }

    fn monotonic(&self) -> Monotonic {
        Monotonic::from_origin(read(SINCE_START))
    }

    /// The clock that counts suspensions is read last, so a suspension between the two readings is counted.
    fn suspended(&self) -> Duration {
        let awake = read(ClockId::Monotonic);
        read(SINCE_START).saturating_sub(awake)
    }
}

fn read(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let nanoseconds = u64::try_from(time.tv_nsec).unwrap_or_default();
    Duration::from_secs(seconds).saturating_add(Duration::from_nanos(nanoseconds))
}

#[cfg(test)]
mod tests {
    use chrono::TimeZone;

    use super::*;

    #[test]
    fn the_monotonic_clock_never_goes_back_whichever_handle_is_asked() {
        let mut last = SystemClock.monotonic();
        for _ in 0..10_000 {
            let next = SystemClock.monotonic();
            assert!(next >= last);
            last = next;
        }
    }

    #[test]
    fn the_wall_clock_is_later_than_the_day_this_was_written() {
        let written = Utc.with_ymd_and_hms(2026, 1, 1, 0, 0, 0).single().unwrap();
        assert!(SystemClock.now() > written);
    }
}
