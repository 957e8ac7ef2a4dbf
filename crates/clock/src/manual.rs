//! A clock that stands still until it is told otherwise, for tests and simulations.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use chrono::{DateTime, Utc};

use crate::{Clock, Monotonic};

/// A clock moved by hand. Clones are handles on the same clock.
#[derive(Debug, Clone)]
pub struct ManualClock {
    hands: Arc<Mutex<Hands>>,
}

#[derive(Debug)]
struct Hands {
    wall: DateTime<Utc>,
    monotonic: Duration,
    suspended: Duration,
}

impl ManualClock {
    /// A clock whose wall stands at `wall` and whose monotonic time stands at its fixed point.
    pub fn at(wall: DateTime<Utc>) -> Self {
        Self {
            hands: Arc::new(Mutex::new(Hands { wall, monotonic: Duration::ZERO, suspended: Duration::ZERO })),
        }
    }

    /// Lets time pass, on both clocks alike.
    ///
    /// # Panics
    /// When that leads beyond the years that chrono can write.
    pub fn advance(&self, length: Duration) {
        let mut hands = self.hands();
        hands.wall += length;
        hands.monotonic += length;
    }

    /// Lets time pass on both clocks while the machine is suspended.
    ///
    /// # Panics
    /// When that leads beyond the years that chrono can write.
    pub fn suspend(&self, length: Duration) {
        self.advance(length);
        self.hands().suspended += length;
    }

    /// Sets the wall alone: a clock that jumped, or was corrected, while no time passed.
    pub fn set_wall(&self, wall: DateTime<Utc>) {
        self.hands().wall = wall;
    }

    fn hands(&self) -> MutexGuard<'_, Hands> {
        self.hands.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> DateTime<Utc> {
        self.hands().wall
    }

    fn monotonic(&self) -> Monotonic {
        Monotonic::from_origin(self.hands().monotonic)
    }

    fn suspended(&self) -> Duration {
        self.hands().suspended
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
