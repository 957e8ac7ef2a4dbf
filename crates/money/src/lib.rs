//! Exact money: minor units that never leave `i64`, one rounding function, a strict amount grammar.
//!
//! Every currency has two decimals, as on the wire. `+` and `-` are not implemented: every sum is checked,
//! and every comparison fails on two different currencies.
//!
//! ```
//! use money::{Currency, Money, Rate};
//!
//! let pula = Currency::parse("BWP")?;
//! let asked = money::parse_amount("100.50", pula)?;
//! let fee = asked.at_rate(Rate::parse("0.015")?)?;
//! assert_eq!(asked.plus(fee)?.to_string(), "BWP 102.01");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![warn(missing_docs)]

mod amount;
mod currency;
mod rate;

use std::cmp::Ordering;
use std::fmt;

use rust_decimal::Decimal;

pub use amount::{AmountError, parse_amount, parse_json_amount};
pub use currency::Currency;
pub use rate::Rate;

/// An amount of one currency, in minor units (hundredths).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Money {
    minor: i64,
    currency: Currency,
}

/// Why a sum of money could not be formed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MoneyError {
    /// Two currencies met in one sum or comparison.
    #[error("cannot combine {0} with {1}")]
    CurrencyMismatch(Currency, Currency),
    /// The result does not fit 64 bits of minor units.
    #[error("the amount is too large to be represented")]
    Overflow,
    /// A decimal amount has a fraction of a minor unit.
    #[error("{0} is finer than a hundredth")]
    FinerThanMinorUnit(Decimal),
    /// Not three upper-case letters.
    #[error("{0:?} is not an ISO 4217 currency code")]
    BadCurrency(String),
    /// Not a decimal fraction that can serve as a rate.
    #[error("{0:?} is not a rate")]
    BadRate(String),
    /// Not of the form `BWP 100.00`.
    #[error("{0:?} is not a money string")]
    BadWireForm(String),
}

impl Money {
    /// An amount given in minor units: `from_minor(10_050, pula)` is `BWP 100.50`.
    pub const fn from_minor(minor: i64, currency: Currency) -> Self {
        Self { minor, currency }
    }

    /// Zero in this currency.
    pub const fn zero(currency: Currency) -> Self {
        Self::from_minor(0, currency)
    }

    /// An amount from a decimal number of currency units. Fails when it is finer than a minor unit.
    pub fn try_from_decimal(units: Decimal, currency: Currency) -> Result<Self, MoneyError> {
        let minor = units.checked_mul(Decimal::ONE_HUNDRED).ok_or(MoneyError::Overflow)?;
        if !minor.fract().is_zero() {
            return Err(MoneyError::FinerThanMinorUnit(units));
        }
        i64::try_from(minor)
            .map(|minor| Self::from_minor(minor, currency))
            .map_err(|_overflow| MoneyError::Overflow)
    }

    /// Reads the wire form that [`Display`](fmt::Display) writes: `BWP 100.00`.
    pub fn parse_wire(text: &str) -> Result<Self, MoneyError> {
        let bad = || MoneyError::BadWireForm(text.to_owned());
        let (currency, amount) = text.split_once(' ').ok_or_else(bad)?;
        let (digits, negative) = amount.strip_prefix('-').map_or((amount, false), |rest| (rest, true));
        let (units, cents) = digits.split_once('.').ok_or_else(bad)?;
        let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if cents.len() != 2 || !all_digits(units) || !all_digits(cents) {
            return Err(bad());
        }
        let magnitude: i64 = format!("{units}{cents}").parse().map_err(|_overflow| MoneyError::Overflow)?;
        let minor = if negative { magnitude.checked_neg().ok_or(MoneyError::Overflow)? } else { magnitude };
        Ok(Self::from_minor(minor, Currency::parse(currency)?))
    }

    /// Minor units (hundredths).
    pub const fn minor(self) -> i64 {
        self.minor
    }

    /// The currency that the minor units count.
    pub const fn currency(self) -> Currency {
        self.currency
    }

    /// Whether the amount is greater than zero.
    pub const fn is_positive(self) -> bool {
        self.minor > 0
    }

    /// Whether the amount is zero.
    pub const fn is_zero(self) -> bool {
        self.minor == 0
    }

    /// `self + other`.
    pub fn plus(self, other: Self) -> Result<Self, MoneyError> {
        self.same_currency(other)?;
        self.minor
            .checked_add(other.minor)
            .map(|minor| Self::from_minor(minor, self.currency))
            .ok_or(MoneyError::Overflow)
    }

    /// `self - other`; may be negative.
    pub fn minus(self, other: Self) -> Result<Self, MoneyError> {
        self.same_currency(other)?;
        self.minor
            .checked_sub(other.minor)
            .map(|minor| Self::from_minor(minor, self.currency))
            .ok_or(MoneyError::Overflow)
    }

    /// The sum of amounts of one currency; zero when there are none.
    pub fn sum(currency: Currency, amounts: impl IntoIterator<Item = Self>) -> Result<Self, MoneyError> {
        amounts.into_iter().try_fold(Self::zero(currency), Self::plus)
    }

    /// Compares two amounts. Fails when the currencies differ.
    pub fn compare(self, other: Self) -> Result<Ordering, MoneyError> {
        self.same_currency(other)?;
        Ok(self.minor.cmp(&other.minor))
    }

    /// The share of the amount at this rate, rounded half up to the minor unit. No other function in the
    /// workspace rounds money.
    pub fn at_rate(self, rate: Rate) -> Result<Self, MoneyError> {
        rate.of_minor_half_up(self.minor).map(|minor| Self::from_minor(minor, self.currency))
    }

    /// The exact number of currency units.
    pub fn to_decimal(self) -> Decimal {
        Decimal::new(self.minor, 2)
    }

    /// The amount without its currency, two decimals: `100.00`.
    pub fn amount(self) -> impl fmt::Display {
        self.to_decimal()
    }

    fn same_currency(self, other: Self) -> Result<(), MoneyError> {
        if self.currency == other.currency {
            Ok(())
        } else {
            Err(MoneyError::CurrencyMismatch(self.currency, other.currency))
        }
    }
}

/// The wire form: currency, one space, two decimals (specification, section 2).
impl fmt::Display for Money {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.currency, self.amount())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pula() -> Currency {
        Currency::parse("BWP").unwrap()
    }

    #[test]
    fn the_wire_form_has_two_decimals_and_a_currency() {
        assert_eq!(Money::from_minor(10_000, pula()).to_string(), "BWP 100.00");
        assert_eq!(Money::from_minor(5, pula()).to_string(), "BWP 0.05");
        assert_eq!(Money::from_minor(-5, pula()).to_string(), "BWP -0.05");
        assert_eq!(Money::from_minor(i64::MAX, pula()).to_string(), "BWP 92233720368547758.07");
    }

    #[test]
    fn a_malformed_wire_form_is_refused() {
        for text in
            ["", "BWP", "BWP 1", "BWP 1.0", "BWP 1.000", "BWP +1.00", "bwp 1.00", "BWP  1.00", "BWP 1,00"]
        {
            assert!(Money::parse_wire(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn currencies_never_mix() {
        let rand = Money::from_minor(1, Currency::parse("ZAR").unwrap());
        let thebe = Money::from_minor(1, pula());
        assert!(matches!(thebe.plus(rand), Err(MoneyError::CurrencyMismatch(..))));
        assert!(matches!(thebe.minus(rand), Err(MoneyError::CurrencyMismatch(..))));
        assert!(matches!(thebe.compare(rand), Err(MoneyError::CurrencyMismatch(..))));
    }

    #[test]
    fn overflow_is_an_error_and_never_wraps() {
        let most = Money::from_minor(i64::MAX, pula());
        let least = Money::from_minor(i64::MIN, pula());
        let thebe = Money::from_minor(1, pula());
        assert_eq!(most.plus(thebe), Err(MoneyError::Overflow));
        assert_eq!(least.minus(thebe), Err(MoneyError::Overflow));
        assert_eq!(most.at_rate(Rate::parse("2").unwrap()), Err(MoneyError::Overflow));
    }

    #[test]
    fn a_decimal_finer_than_a_minor_unit_is_refused() {
        let exact = Decimal::new(10_999, 3);
        assert_eq!(Money::try_from_decimal(exact, pula()), Err(MoneyError::FinerThanMinorUnit(exact)));
        let trailing_zero = Decimal::new(10_990, 3);
        assert_eq!(Money::try_from_decimal(trailing_zero, pula()), Ok(Money::from_minor(1_099, pula())));
    }

    #[test]
    fn shares_round_half_up() {
        let rate = Rate::parse("0.5").unwrap();
        for (minor, share) in [(1, 1), (2, 1), (3, 2), (99, 50), (100, 50)] {
            assert_eq!(Money::from_minor(minor, pula()).at_rate(rate).unwrap().minor(), share);
        }
    }

    proptest! {
        #[test]
        fn the_wire_form_round_trips(minor: i64) {
            let money = Money::from_minor(minor, pula());
            prop_assume!(minor != i64::MIN);
            prop_assert_eq!(Money::parse_wire(&money.to_string()).unwrap(), money);
        }

        #[test]
        fn what_is_added_can_be_taken_away(a in -1_000_000_000_i64..1_000_000_000, b in -1_000_000_000_i64..1_000_000_000) {
            let (a, b) = (Money::from_minor(a, pula()), Money::from_minor(b, pula()));
            prop_assert_eq!(a.plus(b).unwrap().minus(b).unwrap(), a);
        }

        #[test]
        fn a_share_is_within_half_a_minor_unit(minor in 0_i64..1_000_000_000_000, parts in 0_i64..20_000) {
            let share = Money::from_minor(minor, pula()).at_rate(Rate::parse(&Decimal::new(parts, 4).to_string()).unwrap()).unwrap();
            let twice_the_error = (i128::from(share.minor()) * 10_000 - i128::from(minor) * i128::from(parts)) * 2;
            prop_assert!((-10_000 < twice_the_error) && (twice_the_error <= 10_000));
        }
    }
}
