//! The days of a statement or a report. A day begins at midnight in the service's time zone, or at the first moment
//! after it if clocks are set forward then.

use chrono::{DateTime, Datelike, Days as Count, NaiveDate, NaiveTime, TimeDelta, TimeZone, Utc};
use purchase::{Period, ReportedDay};
use web::{ApiError, Detail, Fields};

use super::limits::YEARS;

/// Some days, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Days {
    /// The first day.
    pub first: NaiveDate,
    /// The last day.
    pub last: NaiveDate,
}

impl Days {
    /// Reads `from` and `to`. If one is absent, it is the other; if both are, they are yesterday.
    pub(super) fn read(
        fields: &Fields,
        zone: &impl TimeZone,
        now: DateTime<Utc>,
        days_max: u16,
    ) -> Result<Self, ApiError> {
        let day = |name| -> Result<Option<NaiveDate>, ApiError> {
            let day = fields.optional_day(name)?;
            let in_range = day.filter(|day| YEARS.contains(&day.year()));
            if in_range == day { Ok(day) } else { Err(ApiError::new(Detail::BadDay).about(name)) }
        };
        let (from, to) = (day("from")?, day("to")?);
        let today = now.with_timezone(zone).date_naive();
        let yesterday = today.checked_sub_days(Count::new(1)).unwrap_or(today);
        let first = from.or(to).unwrap_or(yesterday);
        let last = to.unwrap_or(first);
        if last < first {
            return Err(ApiError::new(Detail::PeriodBackwards).about("to"));
        }
        if first > today {
            return Err(ApiError::new(Detail::PeriodNotBegun).about("from"));
        }
        if last.signed_duration_since(first).num_days() >= i64::from(days_max) {
            return Err(ApiError::new(Detail::PeriodTooLong).about("to").with("limit", days_max));
        }
        Ok(Self { first, last })
    }

    /// From the beginning of the first day to the end of the last.
    pub fn period(&self, zone: &impl TimeZone) -> Period {
        Period { from: beginning(self.first, zone), to: end(self.last, zone) }
    }

    /// Each day.
    pub fn each(&self, zone: &impl TimeZone) -> Vec<ReportedDay> {
        let days = self.first.iter_days().take_while(|day| *day <= self.last);
        let of =
            |date| ReportedDay { date, period: Period { from: beginning(date, zone), to: end(date, zone) } };
        days.map(of).collect()
    }
}

fn end(day: NaiveDate, zone: &impl TimeZone) -> DateTime<Utc> {
    beginning(day.succ_opt().unwrap_or(day), zone)
}

/// A midnight that occurs twice is the earlier one.
fn beginning(day: NaiveDate, zone: &impl TimeZone) -> DateTime<Utc> {
    let midnight = day.and_time(NaiveTime::MIN);
    // No zone has ever skipped more than a day.
    let quarters = (0..=96).map(|quarter| midnight + TimeDelta::minutes(15 * quarter));
    let mut moments = quarters.filter_map(|local| zone.from_local_datetime(&local).earliest());
    moments.next().map_or_else(|| midnight.and_utc(), |moment| moment.to_utc())
}

#[cfg(test)]
mod tests {
    use chrono_tz::{Africa::Gaborone, America::Santiago, Tz};

    use super::*;

    fn read(query: &str, zone: Tz) -> Result<Days, (Option<String>, &'static str)> {
        let now = "2026-11-20T23:30:00Z".parse().unwrap();
        let fields = Fields::parse(query.as_bytes()).unwrap();
        Days::read(&fields, &zone, now, 31)
            .map_err(|error| (error.param().map(ToOwned::to_owned), error.code().as_str()))
    }

    fn days(first: &str, last: &str) -> Days {
        Days { first: first.parse().unwrap(), last: last.parse().unwrap() }
    }

    #[test]
    fn days_are_those_of_the_zone_and_yesterday_unless_stated() {
        assert_eq!(read("{}", Gaborone), Ok(days("2026-11-20", "2026-11-20")));
        assert_eq!(read("{}", Tz::UTC), Ok(days("2026-11-19", "2026-11-19")));
        assert_eq!(read(r#"{"to":"2026-11-01"}"#, Tz::UTC), Ok(days("2026-11-01", "2026-11-01")));
        assert_eq!(read(r#"{"from":"2026-11-01"}"#, Tz::UTC), Ok(days("2026-11-01", "2026-11-01")));
        let month = r#"{"from":"2026-10-01","to":"2026-10-31"}"#;
        assert_eq!(read(month, Tz::UTC), Ok(days("2026-10-01", "2026-10-31")));
    }

    #[test]
    fn a_period_that_cannot_be_answered_is_refused_by_its_field() {
        for (query, param) in [
            (r#"{"from":"2026-10-02","to":"2026-10-01"}"#, "to"),
            (r#"{"from":"2026-10-01","to":"2026-11-01"}"#, "to"),
            (r#"{"from":"2026-11-21"}"#, "from"),
            (r#"{"from":"1969-12-31"}"#, "from"),
            (r#"{"to":"20-11-2026"}"#, "to"),
        ] {
            assert_eq!(read(query, Tz::UTC), Err((Some(param.to_owned()), "invalid_argument")), "{query}");
        }
    }

    #[test]
    fn one_day_ends_where_the_next_one_begins_also_where_midnight_does_not_exist() {
        // Chile set its clocks forward at midnight of 2024-09-08.
        for zone in [Gaborone, Santiago, Tz::UTC] {
            let each = days("2024-09-01", "2024-09-30").each(&zone);
            assert_eq!(each.len(), 30);
            assert!(each.windows(2).all(|pair| pair[0].period.to == pair[1].period.from));
            assert_eq!(days("2024-09-01", "2024-09-30").period(&zone).to, each[29].period.to);
        }
        let skipped = days("2024-09-08", "2024-09-08").period(&Santiago);
        assert_eq!(skipped.from.to_rfc3339(), "2024-09-08T04:00:00+00:00");
        assert_eq!((skipped.to - skipped.from).num_hours(), 23);
    }
}
