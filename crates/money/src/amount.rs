//! The grammar of an amount in a request. No lenient parser and no float ever handles an amount.

use alloc::format;

use crate::{Currency, Money};

/// Twelve integer digits, in minor units, are far below the limit of `i64`.
const INTEGER_DIGITS_MAX: usize = 12;

/// Why a number in a request is not an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AmountError {
    /// Not a plain number: for example a string, a sign, a leading zero or NaN.
    #[error("the amount is not a plain decimal number")]
    NotAPlainNumber,
    /// More than twelve digits before the point.
    #[error("the amount has more than 12 integer digits")]
    TooLarge,
    /// A non-zero digit after the last decimal of the currency.
    #[error("the amount is finer than the minor unit of its currency")]
    TooFine,
    /// Zero.
    #[error("the amount is not positive")]
    NotPositive,
}

/// Reads a text as a positive amount: digits, at most the decimals of the currency (more only if they are zeros), no sign, no
/// exponent, at most twelve integer digits.
pub fn parse_amount(text: &str, currency: Currency) -> Result<Money, AmountError> {
    digits_of(text)?.times_ten_to(0, currency)
}

/// Reads the text of a JSON number (RFC 8259, section 6) as a positive amount. An exponent is allowed: `1E2`
/// is one hundred. The value must have at most the decimals of the currency and twelve integer digits.
pub fn parse_json_amount(text: &str, currency: Currency) -> Result<Money, AmountError> {
    match text.split_once(['e', 'E']) {
        None => parse_amount(text, currency),
        Some((number, exponent)) => digits_of(number)?.times_ten_to(exponent_of(exponent)?, currency),
    }
}

/// The digits of a number that is written without an exponent.
struct Digits<'a> {
    units: &'a str,
    fraction: &'a str,
}

fn digits_of(text: &str) -> Result<Digits<'_>, AmountError> {
    let (units, fraction) = text.split_once('.').map_or((text, None), |(units, rest)| (units, Some(rest)));
    if !is_json_integer(units) || fraction.is_some_and(|digits| !is_digits(digits)) {
        return Err(AmountError::NotAPlainNumber);
    }
    Ok(Digits { units, fraction: fraction.unwrap_or_default() })
}

/// The limit for exponents. No request has this many digits, so any larger exponent has the same result.
const EXPONENT_MAX: i64 = 1_000_000_000;

fn exponent_of(text: &str) -> Result<i64, AmountError> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !is_digits(digits) {
        return Err(AmountError::NotAPlainNumber);
    }
    // An exponent that does not fit is limited here, before it is used in a computation.
    let size = digits.parse().unwrap_or(EXPONENT_MAX).min(EXPONENT_MAX);
    Ok(if text.starts_with('-') { -size } else { size })
}

impl Digits<'_> {
    /// The number times ten to the `exponent`. It counts digits and does not compute with them, however many
    /// there are.
    fn times_ten_to(&self, exponent: i64, currency: Currency) -> Result<Money, AmountError> {
        let all = [self.units, self.fraction].concat();
        let significant = all.trim_matches('0');
        if significant.is_empty() {
            return Err(AmountError::NotPositive);
        }
        let leading_zeros = all.len().saturating_sub(all.trim_start_matches('0').len());
        // The position of the decimal point, counted from the first significant digit.
        let integer_digits =
            count(self.units.len()).saturating_sub(count(leading_zeros)).saturating_add(exponent);
        if integer_digits > count(INTEGER_DIGITS_MAX) {
            return Err(AmountError::TooLarge);
        }
        let zeros = integer_digits
            .saturating_add(currency.minor_digits().into())
            .saturating_sub(count(significant.len()));
        let zeros = usize::try_from(zeros).map_err(|_negative| AmountError::TooFine)?;
        let minor = format!("{significant}{}", "0".repeat(zeros));
        let minor = minor.parse().expect("eighteen digits fit an i64");
        Ok(Money::from_minor(minor, currency))
    }
}

fn count(digits: usize) -> i64 {
    i64::try_from(digits).unwrap_or(i64::MAX)
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

    fn read_json(text: &str) -> Result<i64, AmountError> {
        parse_json_amount(text, Currency::parse("BWP").unwrap()).map(Money::minor)
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
            assert_eq!(read_json(text), Ok(minor), "{text}");
        }
    }

    #[test]
    fn an_exponent_is_another_spelling_of_the_same_amount() {
        for (text, minor) in [
            ("1E2", 10_000),
            ("1e2", 10_000),
            ("1e+2", 10_000),
            ("1e0", 100),
            ("1.5e1", 1_500),
            ("0.1e1", 100),
            ("0.015e3", 1_500),
            ("10050e-2", 10_050),
            ("100.000e-1", 1_000),
            ("1e-2", 1),
            ("1e0000000000000000000000000000000002", 10_000),
            ("9.9999999999999e11", 99_999_999_999_999),
            ("99999999999999000e-5", 99_999_999_999_999),
        ] {
            assert_eq!(read_json(text), Ok(minor), "{text}");
            assert_eq!(read(text), Err(AmountError::NotAPlainNumber), "{text}");
        }
        let spelled_out = format!("0.{}1e10001", "0".repeat(10_000));
        assert_eq!(read_json(&spelled_out), Ok(100));
    }

    #[test]
    fn an_exponent_is_bounded_before_anything_is_computed_with_it() {
        for (text, why) in [
            ("1e400", AmountError::TooLarge),
            ("1e12", AmountError::TooLarge),
            ("1e99999999999999999999999999", AmountError::TooLarge),
            ("1e-3", AmountError::TooFine),
            ("1.5e-2", AmountError::TooFine),
            ("1e-99999999999999999999999999", AmountError::TooFine),
            ("1e-9223372036854775808", AmountError::TooFine),
            ("0e400", AmountError::NotPositive),
            ("0.00e-400", AmountError::NotPositive),
            ("-0", AmountError::NotAPlainNumber),
            ("-1e2", AmountError::NotAPlainNumber),
            ("1e", AmountError::NotAPlainNumber),
            ("1e+", AmountError::NotAPlainNumber),
            ("1e2.0", AmountError::NotAPlainNumber),
            ("1e1e1", AmountError::NotAPlainNumber),
            ("1e+-2", AmountError::NotAPlainNumber),
            ("e2", AmountError::NotAPlainNumber),
            ("\"1e2\"", AmountError::NotAPlainNumber),
        ] {
            assert_eq!(read_json(text), Err(why), "{text}");
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

    #[test]
    fn the_decimals_are_those_of_the_currency() {
        let read = |text, code| parse_amount(text, Currency::parse(code).unwrap()).map(Money::minor);
        assert_eq!((read("100", "JPY"), read("100.0", "JPY")), (Ok(100), Ok(100)));
        assert_eq!(read("100.5", "JPY"), Err(AmountError::TooFine));
        assert_eq!((read("1.234", "BHD"), read("1.2345", "BHD")), (Ok(1_234), Err(AmountError::TooFine)));
        let most = Currency::with_minor_digits("ABC", Currency::MINOR_DIGITS_MAX).unwrap();
        assert_eq!(parse_amount("999999999999.999999", most).map(Money::minor), Ok(999_999_999_999_999_999));
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic_and_what_is_read_is_positive(text in "[-+0-9.eE_ \"]{0,20}") {
            for minor in [read(&text), read_json(&text)].into_iter().flatten() {
                prop_assert!(minor > 0);
            }
        }

        #[test]
        fn an_amount_is_the_same_however_its_point_is_moved(
            minor in 1_i64..100_000_000_000_000,
            moved in 0_usize..40,
        ) {
            prop_assert_eq!(read_json(&format!("{minor}e-2")), Ok(minor));
            let zeros = "0".repeat(moved);
            prop_assert_eq!(read_json(&format!("{minor}{zeros}e-{}", moved + 2)), Ok(minor));
            prop_assert_eq!(read_json(&format!("0.{zeros}{minor:014}E+{}", moved + 12)), Ok(minor));
        }

        #[test]
        fn an_amount_is_read_exactly(minor in 1_i64..100_000_000_000_000) {
            let text = format!("{}.{:02}", minor / 100, minor % 100);
            prop_assert_eq!(read(&text), Ok(minor));
        }
    }
}
