//! The vendor's numbers: JSON with up to four decimals. They are never converted to floating point.

use money::{Currency, Money};
use rust_decimal::{Decimal, RoundingStrategy};
use serde_json::value::RawValue;

/// The decimal value. `None` for anything but plain digits with at most one point.
fn decimal(number: &RawValue) -> Option<Decimal> {
    Decimal::from_str_exact(number.get()).ok()
}

/// Exactly this amount. `None` if it is finer than a minor unit.
pub(crate) fn exactly(number: &RawValue, currency: Currency) -> Option<Money> {
    Money::try_from_decimal(decimal(number)?, currency).ok()
}

/// The smallest amount in whole minor units that is not below the number.
pub(crate) fn at_least(number: &RawValue, currency: Currency) -> Option<Money> {
    rounded(number, currency, RoundingStrategy::ToPositiveInfinity)
}

/// The largest amount in whole minor units that is not above the number.
pub(crate) fn at_most(number: &RawValue, currency: Currency) -> Option<Money> {
    rounded(number, currency, RoundingStrategy::ToNegativeInfinity)
}

fn rounded(number: &RawValue, currency: Currency, towards: RoundingStrategy) -> Option<Money> {
    Money::try_from_decimal(decimal(number)?.round_dp_with_strategy(2, towards), currency).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pula() -> Currency {
        Currency::parse("BWP").unwrap()
    }

    fn number(text: &str) -> Box<RawValue> {
        serde_json::from_str(text).unwrap()
    }

    fn exact(text: &str) -> Option<i64> {
        exactly(&number(text), pula()).map(Money::minor)
    }

    #[test]
    fn an_amount_is_read_to_the_last_digit_or_not_at_all() {
        assert_eq!(exact("10"), Some(1_000));
        assert_eq!(exact("10.5"), Some(1_050));
        assert_eq!(exact("10.5000"), Some(1_050));
        assert_eq!(exact("92233720368547758.07"), Some(i64::MAX));
        for text in ["10.001", "1e1", "1E+1", "\"10\"", "null", "true", "[10]", "92233720368547758.08"] {
            assert_eq!(exact(text), None, "{text}");
        }
        let too_long = format!("10.{}1", "0".repeat(40));
        assert_eq!(exact(&too_long), None);
    }

    #[test]
    fn limits_round_towards_what_may_be_bought() {
        let limits = |text: &str| {
            let number = number(text);
            [at_least(&number, pula()), at_most(&number, pula())].map(|limit| limit.map(Money::minor))
        };
        assert_eq!(limits("5.0001"), [Some(501), Some(500)]);
        assert_eq!(limits("5.5"), [Some(550), Some(550)]);
        assert_eq!(limits("\"5\""), [None, None]);
    }

    proptest! {
        #[test]
        fn four_decimals_survive(units in 0_i64..1_000_000_000, fraction in 0_i64..10_000) {
            let text = format!("{units}.{fraction:04}");
            let read = decimal(&number(&text)).unwrap();
            prop_assert_eq!(read, Decimal::new(units * 10_000 + fraction, 4));
        }
    }
}
