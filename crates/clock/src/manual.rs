//! A clock for tests and simulations. It changes only when the caller changes it.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use chrono::{DateTime, Utc};

use crate::{Clock, Monotonic};

/// A clock that the test sets. Clones are handles on the same clock.
#[derive(Debug, Clone)]
pub struct ManualClock {
    times: Arc<Mutex<Times>>,
}

#[derive(Debug)]
struct Times {
    wall: DateTime<Utc>,
    monotonic: Duration,
    suspended: Duration,
}

impl ManualClock {
    /// A clock whose wall time is `wall` and whose monotonic time is at its fixed point.
    pub fn at(wall: DateTime<Utc>) -> Self {
        Self {
            times: Arc::new(Mutex::new(Times { wall, monotonic: Duration::ZERO, suspended: Duration::ZERO })),
        }
    }

    /// Advances both clocks by `length`.
    ///
    /// # Panics
    /// When the wall time leaves the years that chrono can represent.
    pub fn advance(&self, length: Duration) {
        let mut times = self.times();
        times.wall += length;
        times.monotonic += length;
    }

    /// Advances both clocks by `length` while the machine is suspended.
    ///
    /// # Panics
    /// When the wall time leaves the years that chrono can represent.
    pub fn suspend(&self, length: Duration) {
        self.advance(length);
        self.times().suspended += length;
    }

    /// Sets only the wall time, like a clock that jumps or is corrected. The monotonic time does not change.
    pub fn set_wall(&self, wall: DateTime<Utc>) {
        self.times().wall = wall;
    }

    fn times(&self) -> MutexGuard<'_, Times> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> DateTime<Utc> {
        self.times().wall
    }

    fn monotonic(&self) -> Monotonic {
        Monotonic::from_origin(self.times().monotonic)
    }

    fn suspended(&self) -> Duration {
        self.times().suspended
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    const NOON: DateTime<Utc> = DateTime::UNIX_EPOCH;

    #[test]
    fn it_stands_still_until_it_is_advanced_and_then_moves_for_every_handle() {
        let clock = ManualClock::at(NOON);
        let (other, started) = (clock.clone(), clock.monotonic());
        assert_eq!((clock.now(), clock.monotonic()), (NOON, started));

        clock.advance(Duration::from_millis(1_500));

        assert_eq!(other.now(), NOON + TimeDelta::milliseconds(1_500));
        assert_eq!(other.monotonic().elapsed_since(started), Duration::from_millis(1_500));
    }

    #[test]
    fn a_suspension_is_time_that_passed_and_is_told_apart() {
        let clock = ManualClock::at(NOON);
        let before = clock.monotonic();
        clock.advance(Duration::from_secs(1));
        clock.suspend(Duration::from_secs(5));
        assert_eq!(clock.monotonic().elapsed_since(before), Duration::from_secs(6));
        assert_eq!(clock.suspended(), Duration::from_secs(5));
    }

    #[test]
    fn a_jump_of_the_wall_is_no_time_at_all() {
        let clock = ManualClock::at(NOON);
        let before = clock.monotonic();
        clock.set_wall(NOON - TimeDelta::hours(1));
        assert_eq!(clock.now(), NOON - TimeDelta::hours(1));
        assert_eq!(clock.monotonic(), before);
    }
}
