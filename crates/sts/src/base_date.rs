//! The three base dates from which token identifiers count minutes.

use chrono::{NaiveDate, NaiveDateTime, TimeDelta};

/// The number of minutes that 24 bits can count.
pub(crate) const MINUTES_IN_RANGE: u32 = 1 << 24;

/// The day from which the token identifiers of a meter count: 1 January of one of three years.
///
/// ```
/// use sts::BaseDate;
///
/// assert_eq!(BaseDate::Year1993.first_unusable_minute().to_string(), "2024-11-24 20:16:00");
/// assert_eq!(BaseDate::Year1993.next(), Some(BaseDate::Year2014));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
