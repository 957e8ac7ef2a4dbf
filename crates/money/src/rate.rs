//! A rate: the share of an amount that a fee or a commission takes.

use core::fmt;
use core::str::FromStr;

use alloc::borrow::ToOwned;

use rust_decimal::Decimal;

use crate::MoneyError;

/// A non-negative decimal fraction, `0.015` for one and a half per cent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate(Decimal);

impl Rate {
    /// The rate of zero.
    pub const ZERO: Self = Self(Decimal::ZERO);

    /// Reads digits with at most one decimal point: `0.015`. The decimal crate itself accepts more forms.
    pub fn parse(text: &str) -> Result<Self, MoneyError> {
        let bad = || MoneyError::BadRate(text.to_owned());
        let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
            && text.starts_with(|c: char| c.is_ascii_digit())
            && text.ends_with(|c: char| c.is_ascii_digit());
        if !plain {
            return Err(bad());
        }
        text.parse().map(Self).map_err(|_not_a_decimal| bad())
    }

    /// The rate as a decimal fraction, for storage.
    pub const fn to_decimal(self) -> Decimal {
        self.0
    }
}

impl FromStr for Rate {
    type Err = MoneyError;

    fn from_str(text: &str) -> Result<Self, MoneyError> {
        Self::parse(text)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_plain_digits() {
        assert_eq!(Rate::parse("0.015").unwrap().to_string(), "0.015");
        for text in ["", ".5", "5.", "-1", "+1", "1e3", "1_000", "1.2.3", " 1"] {
            assert_eq!(Rate::parse(text), Err(MoneyError::BadRate(text.to_owned())));
        }
    }
}
