//! Token identifiers. They state when a token was made, and a meter uses them to recognise a repeated token.

use chrono::{NaiveDateTime, TimeDelta};

use crate::base_date::{BaseDate, MINUTES_IN_RANGE};

const MINUTES_PER_DAY: u32 = 24 * 60;
const RESERVED_MINUTE: u32 = 1;

/// A token identifier (TID): whole minutes since the meter's [`BaseDate`], in 24 bits.
///
/// Minutes are counted on the utility's local wall clock, so every function here takes local time. The caller converts
/// to local time and must use the same time zone for the whole life of a meter. When the clock goes back an hour,
/// [`next_tid`] keeps identifiers rising.
///
/// The minute 00:01 of each day is reserved. An ordinary token of this minute gets the identifier of the next minute.
///
/// ```
/// use chrono::NaiveDate;
/// use sts::{BaseDate, Tid};
///
/// let day = NaiveDate::from_ymd_opt(2004, 3, 29).unwrap();
/// let at = |minute| Tid::at(day.and_hms_opt(0, minute, 0).unwrap(), BaseDate::Year1993);
/// assert_eq!(at(0)?.minutes(), 5_911_200);
/// assert_eq!(at(1)?.minutes(), 5_911_202);
/// assert_eq!(at(3)?.minutes(), 5_911_203);
/// # Ok::<(), sts::TidError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tid(u32);

/// Why there is no token identifier for a minute.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TidError {
    /// The minute lies before the base date.
    #[error("{local} is before the base date 1 January, code {}", .base.code())]
    BeforeBaseDate {
        /// The requested local time.
        local: NaiveDateTime,
        /// The base date from which it is counted.
        base: BaseDate,
    },
    /// The minute is past the range of 24 bits. The meter must be rolled over to another base date.
    #[error("minute {minutes} is past the end of the base date's range")]
    OutOfRange {
        /// The number of minutes since the base date.
        minutes: u64,
    },
}

impl Tid {
    /// The identifier of an ordinary token that is made at `local`, on the utility's wall clock. Seconds are dropped.
    pub fn at(local: NaiveDateTime, base: BaseDate) -> Result<Self, TidError> {
        let elapsed = local - base.starts_at();
        if elapsed < TimeDelta::zero() {
            return Err(TidError::BeforeBaseDate { local, base });
        }
        let minutes = u64::try_from(elapsed.num_minutes()).expect("time since the base date is not negative");
        Self::try_new(minutes)?.unless_reserved()
    }

    /// The identifier with this number of minutes since the base date. The reserved minute is allowed, for identifiers
    /// that come from other sources.
    pub fn try_new(minutes: u64) -> Result<Self, TidError> {
        match u32::try_from(minutes) {
            Ok(counted) if counted < MINUTES_IN_RANGE => Ok(Self(counted)),
            Ok(_) | Err(_) => Err(TidError::OutOfRange { minutes }),
        }
    }

    /// Whole minutes since the base date.
    pub fn minutes(self) -> u32 {
        self.0
    }

    /// The local time of this identifier.
    pub fn local_time(self, base: BaseDate) -> NaiveDateTime {
        base.starts_at() + TimeDelta::minutes(i64::from(self.0))
    }

    pub(crate) fn from_field([high, middle, low]: [u8; 3]) -> Self {
        Self(u32::from_be_bytes([0, high, middle, low]))
    }

    pub(crate) fn to_field(self) -> [u8; 3] {
        let [_, high, middle, low] = self.0.to_be_bytes();
        [high, middle, low]
    }

    fn unless_reserved(self) -> Result<Self, TidError> {
        match self.0 % MINUTES_PER_DAY {
            RESERVED_MINUTE => Self::try_new(u64::from(self.0) + 1),
            _ => Ok(self),
        }
    }
}

/// The identifier for a meter's next token: that of `now`, or the first one above `last`, whichever is later.
///
/// Two tokens of one meter must have different identifiers. Otherwise the meter treats the second as a copy of the
/// first. So the issuer stores the last identifier of each meter and passes it here. In a burst, each token moves the
/// identifier one minute ahead of the clock.
///
/// ```
/// use chrono::NaiveDate;
/// use sts::{BaseDate, Tid, next_tid};
///
/// let now = NaiveDate::from_ymd_opt(2026, 11, 20).unwrap().and_hms_opt(9, 30, 59).unwrap();
/// let first = next_tid(None, now, BaseDate::Year2014)?;
/// let second = next_tid(Some(first), now, BaseDate::Year2014)?;
/// assert_eq!((first.minutes(), second.minutes()), (6_777_210, 6_777_211));
/// # Ok::<(), sts::TidError>(())
/// ```
pub fn next_tid(last: Option<Tid>, now: NaiveDateTime, base: BaseDate) -> Result<Tid, TidError> {
    let by_the_clock = Tid::at(now, base)?;
    match last {
        Some(last) if last >= by_the_clock => Tid::try_new(u64::from(last.0) + 1)?.unless_reserved(),
        Some(_) | None => Ok(by_the_clock),
    }
}

#[cfg(test)]
mod tests {
    use chrono::NaiveDate;

    use super::*;

    fn local(year: i32, month: u32, day: u32, hour: u32, minute: u32) -> NaiveDateTime {
        NaiveDate::from_ymd_opt(year, month, day).unwrap().and_hms_opt(hour, minute, 59).unwrap()
    }

    #[test]
    fn a_minute_is_counted_from_the_base_date_on_the_local_clock() {
        let tid = Tid::at(local(2004, 3, 1, 13, 0), BaseDate::Year1993).unwrap();
        assert_eq!(tid.minutes(), 5_871_660);
        assert_eq!(tid.local_time(BaseDate::Year1993).to_string(), "2004-03-01 13:00:00");
        assert_eq!(Tid::at(local(2014, 1, 1, 0, 0), BaseDate::Year2014).unwrap().minutes(), 0);
    }

    #[test]
    fn the_range_has_a_first_and_a_last_minute() {
        let last = Tid::at(local(2045, 11, 24, 20, 15), BaseDate::Year2014).unwrap();
        assert_eq!(last.minutes(), 0x00FF_FFFF);
        assert_eq!(
            Tid::at(local(2045, 11, 24, 20, 16), BaseDate::Year2014),
            Err(TidError::OutOfRange { minutes: 0x0100_0000 })
        );
        assert_eq!(
            next_tid(Some(last), local(2045, 11, 24, 20, 15), BaseDate::Year2014),
            Err(TidError::OutOfRange { minutes: 0x0100_0000 })
        );
        let eve = local(2013, 12, 31, 23, 59);
        assert_eq!(
            Tid::at(eve, BaseDate::Year2014),
            Err(TidError::BeforeBaseDate { local: eve, base: BaseDate::Year2014 })
        );
    }

    #[test]
    fn the_next_identifier_skips_the_reserved_minute() {
        let midnight = local(2026, 11, 20, 0, 0);
        let first = next_tid(None, midnight, BaseDate::Year2014).unwrap();
        let second = next_tid(Some(first), midnight, BaseDate::Year2014).unwrap();
        assert_eq!(second.minutes(), first.minutes() + 2);
    }

    #[test]
    fn a_clock_that_goes_back_does_not_take_identifiers_back() {
        let before = next_tid(None, local(2026, 11, 20, 9, 30), BaseDate::Year2014).unwrap();
        let after = next_tid(Some(before), local(2026, 11, 20, 8, 31), BaseDate::Year2014).unwrap();
        assert_eq!(after.minutes(), before.minutes() + 1);
    }

    #[test]
    fn a_quiet_meter_follows_the_clock() {
        let before = next_tid(None, local(2026, 11, 20, 9, 30), BaseDate::Year2014).unwrap();
        let after = next_tid(Some(before), local(2026, 11, 20, 9, 40), BaseDate::Year2014).unwrap();
        assert_eq!(after.minutes(), before.minutes() + 10);
    }

    #[test]
    fn the_field_is_three_bytes() {
        let tid = Tid::try_new(5_871_660).unwrap();
        assert_eq!(tid.to_field(), [0x59, 0x98, 0x2C]);
        assert_eq!(Tid::from_field(tid.to_field()), tid);
    }
}
