//! The machine's clock: the one place in the house that reads the time.

use std::{
    sync::OnceLock,
    time::{Instant, SystemTime},
};

use chrono::{DateTime, Utc};

use crate::{Clock, Monotonic};

/// The fixed point of every [`SystemClock`] in this process, so that their moments compare.
static ORIGIN: OnceLock<Instant> = OnceLock::new();

/// The machine's own wall and monotonic time.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the wall clock")]
    fn now(&self) -> DateTime<Utc> {
        SystemTime::now().into()
    }

    #[expect(clippy::disallowed_methods, reason = "the one place that reads the monotonic clock")]
    fn monotonic(&self) -> Monotonic {
        let origin = *ORIGIN.get_or_init(Instant::now);
        Monotonic::from_origin(origin.elapsed())
    }
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
