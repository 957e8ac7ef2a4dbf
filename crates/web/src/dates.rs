//! The two forms of a moment: `YYYY-MM-DD HH:MM:SS` in the service's zone (specification, section 2.1), and RFC 3339. Days
//! are written without the time.

use std::fmt::Write;

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, TimeZone, Timelike, Utc};

const FORM: &str = "%Y-%m-%d %H:%M:%S";
const LENGTH: usize = "YYYY-MM-DD HH:MM:SS".len();

/// A local time in that form.
pub fn date_time(local: NaiveDateTime) -> String {
    let is_usual = (0..=9_999).contains(&local.year()) && local.nanosecond() < 1_000_000_000;
    if !is_usual {
        return local.format(FORM).to_string();
    }
    // The same as `FORM`, which would be parsed for each date: a list has many.
    let (year, month, day) = (local.year(), local.month(), local.day());
    let (hour, minute, second) = (local.hour(), local.minute(), local.second());
    let mut text = String::with_capacity(LENGTH);
    write!(text, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
        .expect("a text takes what is written to it");
    text
}

/// Reads a text in exactly that form. The parser alone accepts several ways to write a moment, years of any length, and
/// leap seconds, which no database stores.
pub(crate) fn read(text: &str) -> Option<NaiveDateTime> {
    let local = NaiveDateTime::parse_from_str(text, FORM).ok()?;
    (text.len() == LENGTH && date_time(local) == text && local.nanosecond() == 0).then_some(local)
}

/// Reads a moment in either form. A local time that occurs twice, because clocks are set back, is the earlier one.
/// `None` if it never occurs.
pub(crate) fn read_moment(text: &str, zone: &impl TimeZone) -> Option<DateTime<Utc>> {
    match read(text) {
        Some(local) => Some(zone.from_local_datetime(&local).earliest()?.to_utc()),
        None => read_rfc3339(text),
    }
}

/// At most microseconds, as the database stores them, and no leap second. In a query, `+` means a blank, so a blank
/// before the offset is read as the sign that was meant.
fn read_rfc3339(text: &str) -> Option<DateTime<Utc>> {
    let (date_time, offset) = text.split_at_checked(text.len().checked_sub("+02:00".len())?)?;
    let text = offset.strip_prefix(' ').map_or_else(|| text.to_owned(), |east| format!("{date_time}+{east}"));
    let at = DateTime::parse_from_rfc3339(&text).ok()?.to_utc();
    let is_strict = text.as_bytes().get(10) == Some(&b'T') && !text.ends_with('z');
    (is_strict && at.nanosecond() < 1_000_000_000 && at.nanosecond() % 1_000 == 0).then_some(at)
}

/// Reads a day as `YYYY-MM-DD`.
pub(crate) fn read_day(text: &str) -> Option<NaiveDate> {
    let midnight = read(&format!("{text} 00:00:00"))?;
    Some(midnight.date())
}

#[cfg(test)]
mod tests {
    use chrono::FixedOffset;

    use super::*;

    #[test]
    fn a_moment_is_read_in_local_time_or_with_its_offset() {
        let zone = FixedOffset::east_opt(2 * 3_600).unwrap();
        let seconds = |text| read_moment(text, &zone).map(|at| at.timestamp_micros());
        let noon = Some(1_795_172_400_000_000);
        for text in [
            "2026-11-20 13:00:00",
            "2026-11-20T11:00:00Z",
            "2026-11-20T13:00:00+02:00",
            "2026-11-20T13:00:00 02:00",
            "2026-11-20T06:00:00.000000-05:00",
        ] {
            assert_eq!(seconds(text), noon, "{text}");
        }
        assert_eq!(seconds("2026-11-20T11:00:00.25Z"), noon.map(|noon| noon + 250_000));
        for text in [
            "2026-11-20T11:00:00",
            "2026-11-20T11:00:00z",
            "2026-11-20 13:00:00+02:00",
            "2026-11-20t11:00:00Z",
            "2026-11-20T23:59:60Z",
            "2026-11-20T11:00:00.0000001Z",
            "2026-11-20T11:00:00+0200",
            "2026-11-20T11:00:00+24:00",
            "é2:00",
            "",
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }

    #[test]
    fn a_date_is_written_as_its_form_says() {
        let (first, last) = (NaiveDateTime::MIN, NaiveDateTime::MAX);
        for date in ["0000-01-01 00:00:00", "0007-02-03 04:05:06", "9999-12-31 23:59:59"] {
            let date = NaiveDateTime::parse_from_str(date, FORM).unwrap();
            assert_eq!(date_time(date), date.format(FORM).to_string());
        }
        for date in [first, last] {
            assert_eq!(date_time(date), date.format(FORM).to_string());
        }
    }

    #[test]
    fn a_date_has_one_form() {
        let read_and_written = |text| read(text).map(date_time);
        for text in ["2026-11-20 13:00:00", "2024-02-29 23:59:59", "0001-01-01 00:00:00"] {
            assert_eq!(read_and_written(text).as_deref(), Some(text));
        }
        for text in [
            "2026-11-20T13:00:00",
            "2026-11-20",
            "2026-1-2 3:04:05",
            " 2026-11-20 13:00:00",
            "2026-11-20  13:00:00",
            "2026-02-30 13:00:00",
            "2026-11-20 24:00:00",
            "2026-11-20 13:00:60",
            "20-11-2026 13:00:00",
            "+12345-01-01 00:00:00",
            "-0001-01-01 00:00:00",
            "now",
        ] {
            assert_eq!(read_and_written(text), None, "{text}");
        }
    }

    #[test]
    fn a_day_has_one_form() {
        assert_eq!(read_day("2024-02-29").map(|day| day.to_string()).as_deref(), Some("2024-02-29"));
        for text in ["2026-02-30", "2026-1-2", "20261120", "2026-11-20 ", "today", "2026-11-20 00:00:00", ""]
        {
            assert_eq!(read_day(text), None, "{text}");
        }
    }
}
