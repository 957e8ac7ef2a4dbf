//! The local time of Gaborone: two hours ahead of UTC, all year.

use chrono::{DateTime, FixedOffset};
use clock::Clock;

const SECONDS_EAST: i32 = 2 * 60 * 60;

/// The local time, which token identifiers and receipts use.
pub(crate) fn in_gaborone(clock: &dyn Clock) -> DateTime<FixedOffset> {
    let east = FixedOffset::east_opt(SECONDS_EAST).expect("two hours are less than a day");
    clock.now().with_timezone(&east)
}
