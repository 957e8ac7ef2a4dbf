//! The local time of Gaborone: two hours ahead of UTC, all year.

use chrono::{DateTime, FixedOffset};
use clock::Clock;

const SECONDS_EAST: i32 = 2 * 60 * 60;

/// The local time, which token identifiers and receipts use.
pub(crate) fn in_gaborone(clock: &dyn Clock) -> DateTime<FixedOffset> {
    clock.now().with_timezone(&gaborone())
}

/// The time zone.
pub(crate) fn gaborone() -> FixedOffset {
    FixedOffset::east_opt(SECONDS_EAST).expect("two hours are less than a day")
}
