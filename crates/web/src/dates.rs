//! The one form in which dates are read and written: `YYYY-MM-DD HH:MM:SS` (specification, section 2.1). Days are
//! written without the time.

use std::fmt::Write;

use chrono::{Datelike, NaiveDate, NaiveDateTime, Timelike};

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

/// Reads a day as `YYYY-MM-DD`.
pub(crate) fn read_day(text: &str) -> Option<NaiveDate> {
    let midnight = read(&format!("{text} 00:00:00"))?;
    Some(midnight.date())
}

#[cfg(test)]
mod tests {
    use super::*;

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
