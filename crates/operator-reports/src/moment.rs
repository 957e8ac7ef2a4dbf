//! A moment as an operator writes it: with an offset, or in the time zone of the settings.

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, TimeZone, Utc};

/// A moment whose time zone may not be known yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// With an offset (RFC 3339).
    Exact(DateTime<Utc>),
    /// In the operator's time zone.
    Local(NaiveDateTime),
}

impl Moment {
    /// The midnight with which a local day begins.
    pub fn beginning_of(day: NaiveDate) -> Self {
        Self::Local(day.and_time(NaiveTime::MIN))
    }

    /// Reads RFC 3339, `2026-11-20 14:00`, `2026-11-20 14:00:30`, or a day, which is its beginning.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Ok(exact) = DateTime::parse_from_rfc3339(text) {
            return Ok(Self::Exact(exact.to_utc()));
        }
        let forms = ["%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S"];
        let local = forms.iter().find_map(|form| NaiveDateTime::parse_from_str(text, form).ok());
        let midnight = || NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().map(Self::beginning_of);
        local.map(Self::Local).or_else(midnight).ok_or_else(|| {
            "write it like \"2026-11-20 14:00\" or 2026-11-20T14:00:00+02:00 (RFC 3339)".to_owned()
        })
    }

    /// The moment, if local times are times of this zone. A local time that occurs twice, because clocks are set back, is the
    /// earlier one. `None` if it never occurs.
    pub(crate) fn in_zone(self, zone: &impl TimeZone) -> Option<DateTime<Utc>> {
        match self {
            Self::Exact(at) => Some(at),
            Self::Local(local) => zone.from_local_datetime(&local).earliest().map(|at| at.to_utc()),
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono_tz::{Africa::Gaborone, America::St_Johns};

    use super::*;

    fn read(text: &str, zone: &impl TimeZone) -> Option<String> {
        Moment::parse(text).unwrap().in_zone(zone).map(|at| at.to_rfc3339())
    }

    #[test]
    fn a_moment_without_an_offset_is_local() {
        let expected = Some("2026-11-20T12:00:00+00:00".to_owned());
        for text in ["2026-11-20 14:00", "2026-11-20 14:00:00", "2026-11-20T14:00:00+02:00"] {
            assert_eq!(read(text, &Gaborone), expected, "{text}");
        }
        assert_eq!(read("2026-11-20", &Gaborone), Some("2026-11-19T22:00:00+00:00".to_owned()));
        assert_eq!(read("2026-03-08 02:30", &St_Johns), None, "clocks are set forward over it");
        for wrong in ["", "14:00", "tomorrow", "2026-11-20 25:00", "2026-02-30"] {
            assert!(Moment::parse(wrong).is_err(), "{wrong}");
        }
    }
}
