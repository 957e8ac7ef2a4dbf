//! The three base dates from which token identifiers count minutes, and the roll-over from one to the next.

use chrono::{NaiveDate, NaiveDateTime, TimeDelta};

/// The number of minutes that 24 bits can count.
pub(crate) const MINUTES_IN_RANGE: u32 = 1 << 24;

/// The day from which the token identifiers of a meter count: 1 January of one of three years.
///
/// # The roll-over
///
/// An identifier has 24 bits, so it counts almost 32 years of minutes. Then no new token can be made, and the meter must be
/// rolled over to the next base date. This is a key change:
///
/// 1. Well before [`first_unusable_minute`](Self::first_unusable_minute), find the meters for which
///    [`is_due`](Self::is_due). A customer must be able to enter credit until the roll-over is done.
/// 2. Take the parameters of the new key from [`KeyParameters::rolled_over`](crate::KeyParameters::rolled_over). The key
///    must change too: the meter will accept identifiers that it has seen, so a token under the old key would be accepted again.
///    Normally the supply group has a new vending key, with its own revision number.
/// 3. Make the tokens with [`TokenIssuer::key_change_to`](crate::TokenIssuer::key_change_to). They carry a mark that tells the
///    meter to forget its identifiers.
/// 4. The customer enters them in order, and only then credit under the new key. Until the last one, the old key counts.
/// 5. From then on count identifiers from the new base date. The last identifier of the meter starts anew with `None` in
///    [`next_tid`](crate::next_tid).
///
/// ```
/// use sts::BaseDate;
///
/// assert_eq!(BaseDate::Year1993.first_unusable_minute().to_string(), "2024-11-24 20:16:00");
/// assert_eq!(BaseDate::Year1993.next(), Some(BaseDate::Year2014));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum BaseDate {
    /// Code 93. Its range ended in November 2024.
    Year1993,
    /// Code 14. New applications should use it. Its range ends in November 2045.
    Year2014,
    /// Code 35. Its range ends in November 2066.
    Year2035,
}

impl BaseDate {
    /// The two digits of this date in key derivation.
    pub fn code(self) -> &'static str {
        match self {
            Self::Year1993 => "93",
            Self::Year2014 => "14",
            Self::Year2035 => "35",
        }
    }

    /// The first minute of the base date, 00:00 local time.
    pub fn starts_at(self) -> NaiveDateTime {
        let year = match self {
            Self::Year1993 => 1993,
            Self::Year2014 => 2014,
            Self::Year2035 => 2035,
        };
        NaiveDate::from_ymd_opt(year, 1, 1)
            .and_then(|day| day.and_hms_opt(0, 0, 0))
            .expect("every year has a 1 January, and 00:00 is a valid time")
    }

    /// The first minute, in local time, that no token identifier of this base date can express.
    pub fn first_unusable_minute(self) -> NaiveDateTime {
        self.starts_at() + TimeDelta::minutes(i64::from(MINUTES_IN_RANGE))
    }

    /// Whether a meter of this base date should be rolled over at `local`: less than `notice` is left until no token can be
    /// made, and there is a next base date that has begun.
    ///
    /// ```
    /// use chrono::{NaiveDate, TimeDelta};
    /// use sts::BaseDate;
    ///
    /// let day = |year| NaiveDate::from_ymd_opt(year, 1, 1).and_then(|day| day.and_hms_opt(0, 0, 0)).unwrap();
    /// assert!(BaseDate::Year1993.is_due(day(2024), TimeDelta::days(365)));
    /// assert!(!BaseDate::Year2014.is_due(day(2026), TimeDelta::days(365)));
    /// ```
    pub fn is_due(self, local: NaiveDateTime, notice: TimeDelta) -> bool {
        let has_next = self.next().is_some_and(|next| next.starts_at() <= local);
        has_next && local + notice >= self.first_unusable_minute()
    }

    /// The base date to which a meter rolls over from this one. `None` for the last one.
    pub fn next(self) -> Option<Self> {
        match self {
            Self::Year1993 => Some(Self::Year2014),
            Self::Year2014 => Some(Self::Year2035),
            Self::Year2035 => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_end_at_the_published_minutes() {
        let ends = [BaseDate::Year1993, BaseDate::Year2014, BaseDate::Year2035]
            .map(|base| base.first_unusable_minute().to_string());
        assert_eq!(ends, ["2024-11-24 20:16:00", "2045-11-24 20:16:00", "2066-11-24 20:16:00"]);
    }
}
