//! The operators of Botswana, and their numbers.

use money::{Currency, Money};

/// The only country of this aggregator, ISO 3166-1 alpha-2.
pub(super) const COUNTRY: &str = "BW";
const DIALLING_CODE: &str = "267";
/// Digits of a number with its dialling code.
const NUMBER_LENGTH: usize = 11;

/// A mobile network operator.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Operator {
    pub(super) id: u32,
    pub(super) name: &'static str,
    /// The prefixes of its numbers, after the dialling code.
    prefixes: &'static [&'static str],
}

/// An amount must be from 1.00 to 10000.00.
const MINIMUM_MINOR: i64 = 100;
const MAXIMUM_MINOR: i64 = 1_000_000;

const OPERATORS: [Operator; 3] = [
    Operator { id: 641, name: "Mascom Botswana", prefixes: &["71", "74", "75", "76", "77"] },
    Operator { id: 642, name: "Orange Botswana", prefixes: &["72"] },
    Operator { id: 643, name: "BTC Botswana", prefixes: &["73"] },
];

impl Operator {
    pub(super) fn all() -> &'static [Operator] {
        const { &OPERATORS }
    }

    pub(super) fn find(id: u32) -> Option<&'static Operator> {
        Self::all().iter().find(|operator| operator.id == id)
    }

    /// The operator of a number, given as E.164 digits.
    pub(super) fn of(number: &str) -> Option<&'static Operator> {
        let is_number = number.len() == NUMBER_LENGTH && number.bytes().all(|byte| byte.is_ascii_digit());
        let local = number.strip_prefix(DIALLING_CODE).filter(|_digits| is_number)?;
        let serves = |operator: &&Operator| operator.prefixes.iter().any(|prefix| local.starts_with(prefix));
        Self::all().iter().find(serves)
    }

    pub(super) fn sells(amount: Money) -> bool {
        (MINIMUM_MINOR..=MAXIMUM_MINOR).contains(&amount.minor())
    }

    pub(super) fn limits(currency: Currency) -> [Money; 2] {
        [MINIMUM_MINOR, MAXIMUM_MINOR].map(|minor| Money::from_minor(minor, currency))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_belongs_to_the_operator_of_its_prefix() {
        for (number, name) in [
            ("26771000011", Some("Mascom Botswana")),
            ("26772000013", Some("Orange Botswana")),
            ("26773000014", Some("BTC Botswana")),
            ("26778000012", None),
            ("27710000111", None),
            ("2677100001", None),
            ("26771OOOO11", None),
        ] {
            assert_eq!(Operator::of(number).map(|operator| operator.name), name, "{number}");
        }
    }
}
