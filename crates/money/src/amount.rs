//! The grammar of an amount in a request, so that no lax parser and no float ever touches one.

use crate::{Currency, Money};

/// Twelve integer digits in minor units stay far inside `i64`.
const INTEGER_DIGITS_MAX: usize = 12;

/// Why a number in a request is not an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AmountError {
    /// Not a plain JSON number: a string, an exponent, a sign, a leading zero, NaN.
    #[error("the amount is not a plain decimal number")]
    NotAPlainNumber,
    /// More than twelve digits before the point.
    #[error("the amount has more than 12 integer digits")]
    TooLarge,
    /// A non-zero digit after the second decimal.
    #[error("the amount is finer than a hundredth")]
    TooFine,
    /// Zero.
    #[error("the amount is not positive")]
    NotPositive,
}

/// Reads the text of a JSON number as a positive amount: digits, at most two decimals (more only if
/// they are zeros), no sign, no exponent, at most twelve integer digits.
pub fn parse_amount(text: &str, currency: Currency) -> Result<Money, AmountError> {
    let (units, fraction) = text.split_once('.').map_or((text, None), |(units, rest)| (units, Some(rest)));
    if !is_json_integer(units) || fraction.is_some_and(|digits| !is_digits(digits)) {
        return Err(AmountError::NotAPlainNumber);
    }
    if units.len() > INTEGER_DIGITS_MAX {
        return Err(AmountError::TooLarge);
    }
    let mut minor_digits = units.to_owned();
    let mut fraction_digits = fraction.unwrap_or_default().chars();
    for _decimal in 0..2 {
        minor_digits.push(fraction_digits.next().unwrap_or('0'));
    }
    if fraction_digits.any(|digit| digit != '0') {
        return Err(AmountError::TooFine);
    }
    let minor: i64 = minor_digits.parse().expect("fourteen digits fit an i64");
    if minor == 0 { Err(AmountError::NotPositive) } else { Ok(Money::from_minor(minor, currency)) }
}

fn is_json_integer(text: &str) -> bool {
    is_digits(text) && (text == "0" || !text.starts_with('0'))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<i64, AmountError> {
        parse_amount(text, Currency::parse("BWP").unwrap()).map(Money::minor)
    }

    #[test]
    fn plain_decimals_are_amounts() {
        for (text, minor) in [
            ("1", 100),
            ("0.01", 1),
            ("0.5", 50),
            ("100.50", 10_050),
            ("100.5000", 10_050),
            ("999999999999.99", 99_999_999_999_999),
        ] {
            assert_eq!(read(text), Ok(minor), "{text}");
        }
    }

    #[test]
    fn everything_that_a_float_would_swallow_is_refused() {
        for text in [
            "", "-0", "-1", "+1", "1e2", "1E2", "1e400", ".5", "1.", "01", "1_000", "NaN", "Infinity",
            "\"100\"", " 1", "1 ", "0x1", "1,5", "١",
        ] {
            assert_eq!(read(text), Err(AmountError::NotAPlainNumber), "{text:?}");
        }
        assert_eq!(read("0.001"), Err(AmountError::TooFine));
        assert_eq!(read("1234567890123"), Err(AmountError::TooLarge));
        assert_eq!(read("0"), Err(AmountError::NotPositive));
        assert_eq!(read("0.00"), Err(AmountError::NotPositive));
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic_and_what_is_read_is_positive(text in "[-+0-9.eE_ \"]{0,20}") {
            if let Ok(minor) = read(&text) {
                prop_assert!(minor > 0);
            }
        }

        #[test]
        fn an_amount_is_read_exactly(minor in 1_i64..100_000_000_000_000) {
            let text = format!("{}.{:02}", minor / 100, minor % 100);
            prop_assert_eq!(read(&text), Ok(minor));
        }
    }
}
