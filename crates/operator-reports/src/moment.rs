//! A moment as an operator writes it: with an offset, or in the time zone of the settings. A day, and a time of today.

use chrono::{DateTime, Days, NaiveDate, NaiveTime, TimeZone, Utc};
use chrono_tz::Tz;

/// A day whose date may depend on which one is today.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Day {
    Today,
    Yesterday,
    Tomorrow,
    On(NaiveDate),
}

/// A moment whose time zone may not be known yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// With an offset (RFC 3339).
    Exact(DateTime<Utc>),
    /// A time of a day in the operator's time zone.
    Of(Day, NaiveTime),
    /// The moment at which the command runs.
    Now,
}

impl Day {
    /// Reads `2026-11-20`, `today`, `yesterday` or `tomorrow`.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text {
            "today" => Ok(Self::Today),
            "yesterday" => Ok(Self::Yesterday),
            "tomorrow" => Ok(Self::Tomorrow),
            date => NaiveDate::parse_from_str(date, "%Y-%m-%d")
                .map(Self::On)
                .map_err(|_malformed| "write it like 2026-11-20, or today, yesterday, tomorrow".to_owned()),
        }
    }

    /// Its begin and its end, if now is this moment. `None` if the clocks are set forward over one of them.
    pub fn bounds(self, zone: Tz, now: DateTime<Utc>) -> Option<(DateTime<Utc>, DateTime<Utc>)> {
        let date = self.date(now.with_timezone(&zone).date_naive());
        let next = date.succ_opt().unwrap_or(date);
        let beginning = |date| Moment::Of(Self::On(date), NaiveTime::MIN).in_zone(&zone, now);
        Some((beginning(date)?, beginning(next)?))
    }

    /// Its date, if today is this one.
    pub(crate) fn date(self, today: NaiveDate) -> NaiveDate {
        match self {
            Self::Today => today,
            Self::Yesterday => today.checked_sub_days(Days::new(1)).unwrap_or(today),
            Self::Tomorrow => today.checked_add_days(Days::new(1)).unwrap_or(today),
            Self::On(date) => date,
        }
    }
}

impl Moment {
    /// Reads RFC 3339, `2026-11-20 14:00`, `2026-11-20 14:00:30`, `tomorrow 08:00`, `14:00` of today, a day, which is its beginning, or
    /// `now`.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text == "now" {
            return Ok(Self::Now);
        }
        if let Ok(exact) = DateTime::parse_from_rfc3339(text) {
            return Ok(Self::Exact(exact.to_utc()));
        }
        let time = |text: &str| {
            ["%H:%M", "%H:%M:%S"].iter().find_map(|form| NaiveTime::parse_from_str(text, form).ok())
        };
        let moment = match text.split_once(' ') {
            Some((day, of_it)) => Day::parse(day).ok().zip(time(of_it)),
            None => time(text)
                .map(|of_today| (Day::Today, of_today))
                .or_else(|| Day::parse(text).ok().map(|day| (day, NaiveTime::MIN))),
        };
        moment.map(|(day, time)| Self::Of(day, time)).ok_or_else(|| {
            "write it like \"2026-11-20 14:00\", 14:00 (today), \"tomorrow 08:00\", today, now, or 2026-11-20T14:00:00+02:00 (RFC \
             3339)"
                .to_owned()
        })
    }

    /// The moment, if local times are times of this zone, and it is `now`. A local time that occurs twice, because clocks are set
    /// back, is the earlier one. `None` if it never occurs.
    pub(crate) fn in_zone(self, zone: &impl TimeZone, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let (day, time) = match self {
            Self::Exact(at) => return Some(at),
            Self::Now => return Some(now),
            Self::Of(day, time) => (day, time),
        };
        let local = day.date(now.with_timezone(zone).date_naive()).and_time(time);
        zone.from_local_datetime(&local).earliest().map(|at| at.to_utc())
    }
}

#[cfg(test)]
mod tests {
    use chrono_tz::{Africa::Gaborone, America::St_Johns};

    use super::*;

    /// 00:30 of 21 November in Gaborone, and still the 20th in St John's.
    fn now() -> DateTime<Utc> {
        "2026-11-20T22:30:00Z".parse().unwrap()
    }

    fn read(text: &str, zone: &impl TimeZone) -> Option<String> {
        Moment::parse(text).unwrap().in_zone(zone, now()).map(|at| at.to_rfc3339())
    }

    #[test]
    fn a_moment_without_an_offset_is_local() {
        let expected = Some("2026-11-20T12:00:00+00:00".to_owned());
        for text in ["2026-11-20 14:00", "2026-11-20 14:00:00", "2026-11-20T14:00:00+02:00"] {
            assert_eq!(read(text, &Gaborone), expected, "{text}");
        }
        assert_eq!(read("2026-11-20", &Gaborone), Some("2026-11-19T22:00:00+00:00".to_owned()));
        assert_eq!(read("2026-03-08 02:30", &St_Johns), None, "clocks are set forward over it");
        for wrong in
            ["", "1400", "monday", "2026-11-20 25:00", "2026-02-30", "25:00", "tomorrow 8", "now 08:00"]
        {
            assert!(Moment::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_time_alone_is_of_today_and_a_day_may_be_a_word_both_in_the_local_zone() {
        for (text, at) in [
            ("01:45", "2026-11-20T23:45:00+00:00"),
            ("01:45:30", "2026-11-20T23:45:30+00:00"),
            ("today", "2026-11-20T22:00:00+00:00"),
            ("yesterday", "2026-11-19T22:00:00+00:00"),
            ("tomorrow", "2026-11-21T22:00:00+00:00"),
            ("tomorrow 08:00", "2026-11-22T06:00:00+00:00"),
            ("yesterday 14:00:30", "2026-11-20T12:00:30+00:00"),
            ("today 01:45", "2026-11-20T23:45:00+00:00"),
            ("now", "2026-11-20T22:30:00+00:00"),
        ] {
            assert_eq!(read(text, &Gaborone).as_deref(), Some(at), "{text}");
        }
        assert_eq!(read("01:45", &St_Johns).as_deref(), Some("2026-11-20T05:15:00+00:00"));
        let today = NaiveDate::from_ymd_opt(2026, 3, 1).unwrap();
        assert_eq!(Day::parse("yesterday").unwrap().date(today).to_string(), "2026-02-28");
        assert_eq!(Day::parse("tomorrow").unwrap().date(today).to_string(), "2026-03-02");
        assert_eq!(Day::parse("2026-11-20").unwrap().date(today).to_string(), "2026-11-20");
        assert!(Day::parse("monday").is_err());
    }
}
