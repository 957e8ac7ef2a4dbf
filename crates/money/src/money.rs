//! An amount of one currency.

use core::cmp::Ordering;
use core::fmt;

use rust_decimal::Decimal;

use crate::{Currency, MoneyError, Rate, Rounding};

/// An amount of one currency, in its minor units.
///
/// `+` and `-` are not implemented: every sum is checked for overflow, and fails if the currencies differ. It takes 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Money {
    minor: i64,
    currency: Currency,
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
        let minor = minor_units(units, currency)?;
        if !minor.fract().is_zero() {
            return Err(MoneyError::FinerThanMinorUnit(units));
        }
        i64::try_from(minor)
            .map(|minor| Self::from_minor(minor, currency))
            .map_err(|_overflow| MoneyError::Overflow)
    }

    /// An amount from a decimal number of currency units, rounded to the minor unit.
    ///
    /// ```
    /// use money::{Currency, Decimal, Money, Rounding};
    ///
    /// let yen = Currency::parse("JPY")?;
    /// assert_eq!(Money::rounded(Decimal::new(1005, 1), yen, Rounding::HalfEven)?.to_string(), "JPY 100");
    /// # Ok::<(), money::MoneyError>(())
    /// ```
    pub fn rounded(units: Decimal, currency: Currency, rounding: Rounding) -> Result<Self, MoneyError> {
        rounding.to_whole(minor_units(units, currency)?).map(|minor| Self::from_minor(minor, currency))
    }

    /// The number of minor units.
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

    /// The amount this many times: three of `BWP 99.95` are `BWP 299.85`.
    ///
    /// ```
    /// use money::Money;
    ///
    /// let price: Money = "BWP 99.95".parse()?;
    /// assert_eq!(price.times(3)?.to_string(), "BWP 299.85");
    /// # Ok::<(), money::MoneyError>(())
    /// ```
    ///
    /// # Errors
    /// [`MoneyError::Overflow`].
    pub fn times(self, count: i64) -> Result<Self, MoneyError> {
        self.minor
            .checked_mul(count)
            .map(|minor| Self::from_minor(minor, self.currency))
            .ok_or(MoneyError::Overflow)
    }

    /// The sum of amounts of one currency; zero when there are none.
    pub fn sum(currency: Currency, amounts: impl IntoIterator<Item = Self>) -> Result<Self, MoneyError> {
        amounts.into_iter().try_fold(Self::zero(currency), Self::plus)
    }

    /// Compares two amounts. Fails when the currencies differ.
    ///
    /// The operators `<` and `>` are not implemented: for two currencies, both would be false, and code that takes
    /// "not less" for "enough" would be wrong.
    pub fn compare(self, other: Self) -> Result<Ordering, MoneyError> {
        self.same_currency(other)?;
        Ok(self.minor.cmp(&other.minor))
    }

    /// The share of the amount at this rate, [rounded half up](Rounding::HalfUp) to the minor unit.
    pub fn at_rate(self, rate: Rate) -> Result<Self, MoneyError> {
        self.at_rate_rounded(rate, Rounding::HalfUp)
    }

    /// The share of the amount at this rate, rounded to the minor unit.
    pub fn at_rate_rounded(self, rate: Rate, rounding: Rounding) -> Result<Self, MoneyError> {
        let exact = Decimal::from(self.minor).checked_mul(rate.to_decimal()).ok_or(MoneyError::Overflow)?;
        rounding.to_whole(exact).map(|minor| Self::from_minor(minor, self.currency))
    }

    /// The exact number of currency units.
    pub fn to_decimal(self) -> Decimal {
        Decimal::new(self.minor, self.currency.minor_digits().into())
    }

    /// The amount without its currency, with the decimals of the currency: `100.00`.
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

/// A number of currency units as a number of minor units, which need not be whole.
fn minor_units(units: Decimal, currency: Currency) -> Result<Decimal, MoneyError> {
    let factor = Decimal::from(10_u64.pow(currency.minor_digits().into()));
    units.checked_mul(factor).ok_or(MoneyError::Overflow)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pula() -> Currency {
        Currency::parse("BWP").unwrap()
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
        assert_eq!(most.times(2), Err(MoneyError::Overflow));
        assert_eq!(least.times(-1), Err(MoneyError::Overflow));
    }

    #[test]
    fn a_decimal_finer_than_a_minor_unit_is_refused() {
        let exact = Decimal::new(10_999, 3);
        assert_eq!(Money::try_from_decimal(exact, pula()), Err(MoneyError::FinerThanMinorUnit(exact)));
        let trailing_zero = Decimal::new(10_990, 3);
        assert_eq!(Money::try_from_decimal(trailing_zero, pula()), Ok(Money::from_minor(1_099, pula())));
    }

    #[test]
    fn a_decimal_counts_the_units_of_its_currency() {
        for (code, minor) in [("JPY", 7), ("BWP", 700), ("BHD", 7_000), ("CLF", 70_000)] {
            let money = Money::from_minor(minor, Currency::parse(code).unwrap());
            assert_eq!(Money::try_from_decimal(Decimal::from(7), money.currency()), Ok(money));
            assert_eq!(money.to_decimal(), Decimal::from(7));
        }
        let yen = Currency::parse("JPY").unwrap();
        assert!(Money::try_from_decimal(Decimal::new(75, 1), yen).is_err());
        assert_eq!(Money::rounded(Decimal::new(75, 1), yen, Rounding::Down), Ok(Money::from_minor(7, yen)));
    }

    #[test]
    fn a_share_is_rounded_as_asked() {
        let rate = Rate::parse("0.5").unwrap();
        let share = |rounding| Money::from_minor(5, pula()).at_rate_rounded(rate, rounding).unwrap().minor();
        assert_eq!([Rounding::HalfUp, Rounding::HalfEven, Rounding::Down].map(share), [3, 2, 2]);
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
