//! A moment on the monotonic clock, and the arithmetic on it.

use std::time::Duration;

/// The time since an arbitrary fixed point in this process.
///
/// It never goes backwards. It has no meaning in another process and must not be stored.
///
/// ```
/// use std::time::Duration;
///
/// use clock::{Clock, ManualClock};
/// # use chrono::DateTime;
///
/// let clock = ManualClock::at(DateTime::UNIX_EPOCH);
/// let started = clock.monotonic();
/// clock.advance(Duration::from_secs(5));
/// assert_eq!(clock.monotonic().elapsed_since(started), Duration::from_secs(5));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Monotonic(Duration);

impl Monotonic {
    /// The moment `since_origin` after the fixed point.
    pub const fn from_origin(since_origin: Duration) -> Self {
        Self(since_origin)
    }

    /// The time from the fixed point to this moment.
    pub const fn since_origin(self) -> Duration {
        self.0
    }

    /// The time from `earlier` to this moment. Zero if `earlier` is later than this moment.
    pub const fn elapsed_since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    /// The moment `length` after this one, such as a deadline. `None` only if a [`Duration`] cannot hold it.
    pub const fn checked_add(self, length: Duration) -> Option<Self> {
        match self.0.checked_add(length) {
            Some(since_origin) => Some(Self(since_origin)),
            None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_time_has_passed_since_a_moment_that_is_yet_to_come() {
        let (now, later) = (Monotonic(Duration::from_secs(1)), Monotonic(Duration::from_secs(3)));
        assert_eq!(later.elapsed_since(now), Duration::from_secs(2));
        assert_eq!(now.elapsed_since(later), Duration::ZERO);
    }

    #[test]
    fn a_deadline_beyond_the_end_of_time_is_none() {
        let now = Monotonic(Duration::from_secs(1));
        assert_eq!(now.checked_add(Duration::from_secs(2)), Some(Monotonic(Duration::from_secs(3))));
        assert_eq!(now.checked_add(Duration::MAX), None);
    }
}
