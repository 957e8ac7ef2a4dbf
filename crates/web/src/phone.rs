//! Phone numbers, checked against the international numbering plans.

use std::{cell::RefCell, collections::HashMap};

use phonenumber::{Mode, PhoneNumber, country};

/// The longest possible number (ITU-T E.164), with its `+`.
const LENGTH_MAX: usize = 16;

/// How many numbers are remembered by each thread.
const RECENT_MAX: usize = 1_024;

thread_local! {
    /// Numbers that were found valid, by their text and region. A quote and the confirm after it have the same number, and
    /// its check costs more than the rest of a body.
    static RECENT: RefCell<HashMap<String, String>> = RefCell::default();
}

/// The E.164 digits of a number. It is written with its country code, with or without a `+`, or as people write it in
/// `region`. `None` if no such number can exist.
pub(crate) fn e164_digits(text: &str, region: Option<&str>) -> Option<String> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    if text.len() > LENGTH_MAX || digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let written = [text, region.unwrap_or_default()].join(" ");
    if let Some(found) = RECENT.with_borrow(|recent| recent.get(&written).cloned()) {
        return Some(found);
    }
    let found = checked(text, digits, region)?;
    RECENT.with_borrow_mut(|recent| {
        if recent.len() >= RECENT_MAX {
            recent.clear();
        }
        recent.insert(written, found.clone());
    });
    Some(found)
}

fn checked(text: &str, digits: &str, region: Option<&str>) -> Option<String> {
    let international = valid(None, &format!("+{digits}"));
    let number = international.or_else(|| {
        let region: country::Id = region?.parse().ok()?;
        if text.starts_with('+') { None } else { valid(Some(region), digits) }
    })?;
    let formatted = number.format().mode(Mode::E164).to_string();
    Some(formatted.trim_start_matches('+').to_owned())
}

/// Unpacks the numbering plans, so that the first number does not have to wait for it.
pub(crate) fn read_the_number_plan() {
    e164_digits("26771234567", None);
}

fn valid(region: Option<country::Id>, text: &str) -> Option<PhoneNumber> {
    phonenumber::parse(region, text).ok().filter(phonenumber::is_valid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_with_a_country_code_are_a_number_in_any_region() {
        for (text, region) in [
            ("26771234567", None),
            ("+26771234567", None),
            ("26771234567", Some("ZA")),
            ("71234567", Some("BW")),
        ] {
            for time in ["first", "second"] {
                let digits = e164_digits(text, region);
                assert_eq!(digits.as_deref(), Some("26771234567"), "{text} {region:?}, the {time} time");
            }
        }
        assert_eq!(e164_digits("0821234567", Some("ZA")).as_deref(), Some("27821234567"));
    }

    #[test]
    fn what_cannot_be_dialled_is_no_number() {
        for (text, region) in [
            ("", None),
            ("+", None),
            ("123", None),
            ("71234567", None),
            ("71234567", Some("ZA")),
            ("+71234567", Some("BW")),
            ("267 71 234 567", None),
            ("267-71234567", Some("BW")),
            ("2677123456a", None),
            ("00000000000", None),
            ("99999999999999999999", None),
            ("٢٦٧٧١٢٣٤٥٦٧", None),
            ("71234567", Some("XX")),
        ] {
            assert_eq!(e164_digits(text, region), None, "{text:?} {region:?}");
        }
    }
}
