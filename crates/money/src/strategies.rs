//! Strategies of proptest, for the tests of code that handles money.
//!
//! ```
//! use money::{Currency, strategies};
//! use proptest::prelude::*;
//!
//! proptest!(|(amount in strategies::any_amount())| {
//!     prop_assert_eq!(amount.minus(amount).map(|nothing| nothing.is_zero()), Ok(true));
//! });
//! ```

use core::ops::RangeInclusive;

use proptest::prelude::{Strategy, any};
use proptest::sample::select;

use alloc::vec::Vec;

use crate::{Currency, Money, iso4217};

/// Any currency of ISO 4217 that has a minor unit.
pub fn any_currency() -> impl Strategy<Value = Currency> {
    select(iso4217::all().filter_map(|code| Currency::parse(code).ok()).collect::<Vec<_>>())
}

/// Any amount of any currency, with a sign.
pub fn any_amount() -> impl Strategy<Value = Money> {
    (any::<i64>(), any_currency()).prop_map(|(minor, currency)| Money::from_minor(minor, currency))
}

/// Any amount of this currency between two numbers of minor units.
pub fn amount_of(currency: Currency, minor: RangeInclusive<i64>) -> impl Strategy<Value = Money> {
    minor.prop_map(move |minor| Money::from_minor(minor, currency))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn amounts_are_of_iso_currencies_and_within_their_range(
            amount in any_amount(),
            fee in amount_of(Currency::parse("BWP").unwrap(), 1..=500),
        ) {
            prop_assert!(amount.currency().is_iso());
            prop_assert!((1..=500).contains(&fee.minor()));
        }
    }
}
