//! Why an amount, a currency or a rate could not be formed.

use alloc::string::String;

use rust_decimal::Decimal;

use crate::Currency;

/// Why a sum of money could not be formed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MoneyError {
    /// Two currencies met in one sum or comparison. One code with two numbers of minor digits is two currencies.
    #[error("cannot combine {0} with {1}{digits}", digits = OtherDigits(*.0, *.1))]
    CurrencyMismatch(Currency, Currency),
    /// The result does not fit 64 bits of minor units.
    #[error("the amount is too large to be represented")]
    Overflow,
    /// A decimal amount has a fraction of a minor unit.
    #[error("{0} is finer than the minor unit of its currency")]
    FinerThanMinorUnit(Decimal),
    /// Not three upper-case letters, or not a code that ISO 4217 lists with a minor unit.
    #[error("{0:?} is not an ISO 4217 currency code")]
    BadCurrency(String),
    /// Not a decimal fraction that can serve as a rate.
    #[error("{0:?} is not a rate: digits with at most one decimal point, such as 0.015")]
    BadRate(String),
    /// Not an amount with its currency, in the [`Form`](crate::Form) that was asked for.
    #[error(
        "{0:?} is not an amount with its currency, such as BWP 100.00 or UGX 5000: one blank, and exactly the decimals of the currency"
    )]
    BadWireForm(String),
}

/// Says what differs between two currencies of one code.
struct OtherDigits(Currency, Currency);

impl core::fmt::Display for OtherDigits {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self(one, other) = self;
        if one.as_str() != other.as_str() {
            return Ok(());
        }
        write!(out, ": one has {} minor digits, the other {}", one.minor_digits(), other.minor_digits())
    }
}
