//! Moments on the wire: RFC 3339 in the service's zone.

use std::fmt;

use chrono::{DateTime, Datelike, Offset, SecondsFormat, TimeZone, Timelike, Utc};
use chrono_tz::Tz;
use serde::{Serialize, Serializer};

/// `2026-11-20T13:00:00.000000+02:00`: exact to the microsecond, as the database stores it. It is written without a text
/// of its own, because confirm writes two of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment(pub(super) DateTime<Tz>);

impl fmt::Display for Moment {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let local = self.0.naive_local();
        let (year, month, day) = (local.year(), local.month(), local.day());
        let (hour, minute, second) = (local.hour(), local.minute(), local.second());
        let microsecond = local.nanosecond() / 1_000;
        write!(out, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{microsecond:06}")?;
        write!(out, "{}", self.0.offset().fix())
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// A moment with a fraction only if it needs one: the ends of days have none.
pub(super) fn rfc_3339(at: DateTime<Utc>, zone: &impl TimeZone) -> String {
    at.with_timezone(zone).fixed_offset().to_rfc3339_opts(SecondsFormat::AutoSi, false)
}

#[cfg(test)]
mod tests {
    use chrono_tz::{Africa::Gaborone, America::St_Johns};

    use super::*;

    #[test]
    fn a_moment_is_written_as_the_form_says() {
        for at in ["2026-11-20T11:00:00Z", "1970-01-01T00:00:00.000001Z", "2026-07-04T23:59:59.999999Z"] {
            let at: DateTime<Utc> = at.parse().unwrap();
            for zone in [Gaborone, St_Johns, Tz::UTC] {
                let moment = at.with_timezone(&zone);
                let form = moment.format("%Y-%m-%dT%H:%M:%S%.6f%:z").to_string();
                assert_eq!(Moment(moment).to_string(), form);
            }
        }
    }
}
