//! The phone number that is topped up.

use std::fmt;

use phonenumber::{Mode, PhoneNumber, country};

/// The length of the longest number (ITU-T E.164) with its `+`.
const LENGTH_MAX: usize = 16;

/// A valid number of the country of the connection. `Debug` does not show it, because it must not be logged.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Phone(String);

impl Phone {
    /// Reads the form that a purchase must use: E.164 digits, country code first and no `+`. Purchases are compared and
    /// found by the text of the number, so each number has exactly one valid text.
    pub(crate) fn ordered(text: &str, country: country::Id) -> Option<Self> {
        Self::reported(text, country).filter(|phone| phone.digits() == text)
    }

    /// Reads the forms that the vendor may use: E.164 digits with or without a `+`, or the national number. `None` if
    /// the text is not a number of the country, or if it can be read as two different numbers.
    pub(crate) fn reported(text: &str, country: country::Id) -> Option<Self> {
        let digits = text.strip_prefix('+').unwrap_or(text);
        if text.len() > LENGTH_MAX || digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let international = existing(None, &format!("+{digits}"), country);
        let national =
            if digits.len() < text.len() { None } else { existing(Some(country), digits, country) };
        match (international, national) {
            (Some(one), Some(other)) => (one == other).then_some(one),
            (Some(one), None) | (None, Some(one)) => Some(one),
            (None, None) => None,
        }
    }

    /// E.164 digits without the `+`.
    pub(crate) fn digits(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Phone {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Phone(…)")
    }
}

fn existing(region: Option<country::Id>, text: &str, country: country::Id) -> Option<Phone> {
    let is_there =
        |number: &PhoneNumber| phonenumber::is_valid(number) && number.country().id() == Some(country);
    let number = phonenumber::parse(region, text).ok().filter(is_there)?;
    let formatted = number.format().mode(Mode::E164).to_string();
    Some(Phone(formatted.trim_start_matches('+').to_owned()))
}

#[cfg(test)]
mod tests {
    use phonenumber::country::{BW, US, ZA};
    use proptest::prelude::*;

    use super::*;

    fn reported(text: &str, country: country::Id) -> Option<String> {
        Phone::reported(text, country).map(|phone| phone.0)
    }

    #[test]
    fn a_number_is_ordered_in_one_spelling_only() {
        for (only, others, country) in [
            ("26771234567", ["+26771234567", "71234567", "0026771234567", "026771234567"], BW),
            ("27821234567", ["+27821234567", "821234567", "0821234567", "0027821234567"], ZA),
        ] {
            assert_eq!(Phone::ordered(only, country).unwrap().digits(), only);
            for other in others {
                assert_eq!(Phone::ordered(other, country), None, "{other}");
            }
        }
    }

    #[test]
    fn the_vendor_may_report_a_number_however_it_is_dialled() {
        for text in ["26771234567", "+26771234567", "71234567"] {
            assert_eq!(reported(text, BW).as_deref(), Some("26771234567"), "{text}");
        }
        for text in ["27821234567", "+27821234567", "0821234567", "821234567"] {
            assert_eq!(reported(text, ZA).as_deref(), Some("27821234567"), "{text}");
        }
    }

    #[test]
    fn a_text_that_is_no_number_of_the_country_is_not_read() {
        for (text, country) in [
            ("", BW),
            ("+", BW),
            ("71", BW),
            ("+71234567", BW),
            ("27821234567", BW),
            ("26771234567", ZA),
            ("14165550123", US),
            ("267 71 234 567", BW),
            ("7123456a", BW),
            ("00026771234567", BW),
            ("99999999999999999999", BW),
            ("٢٦٧٧١٢٣٤٥٦٧", BW),
        ] {
            assert_eq!(reported(text, country), None, "{text:?} {country:?}");
        }
    }

    #[test]
    fn a_number_is_not_printed() {
        assert_eq!(format!("{:?}", Phone::ordered("26771234567", BW).unwrap()), "Phone(…)");
    }

    proptest! {
        #[test]
        fn two_texts_never_order_for_one_number(text in "\\+?[0-9]{0,17}") {
            for country in [BW, ZA, US] {
                if let Some(phone) = Phone::ordered(&text, country) {
                    prop_assert_eq!(phone.digits(), text.as_str());
                }
                if let Some(phone) = Phone::reported(&text, country) {
                    prop_assert_eq!(Phone::ordered(phone.digits(), country), Some(phone));
                }
            }
        }
    }
}
