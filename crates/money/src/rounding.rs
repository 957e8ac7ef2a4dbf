//! The rounding modes, by name.

use rust_decimal::{Decimal, RoundingStrategy};

use crate::MoneyError;

/// What becomes of a fraction of a minor unit. The examples round 2.5, -2.5 and 2.1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rounding {
    /// To the nearest, and a half away from zero: 3, -3, 2. It is the usual commercial rounding.
    #[default]
    HalfUp,
    /// To the nearest, and a half towards zero: 2, -2, 2.
    HalfDown,
    /// To the nearest, and a half to the even neighbour: 2, -2, 2. Many halves cancel out.
    HalfEven,
    /// Away from zero: 3, -3, 3.
    Up,
    /// Towards zero: 2, -2, 2.
    Down,
    /// Towards the larger: 3, -2, 3.
    Ceiling,
    /// Towards the smaller: 2, -3, 2.
    Floor,
}

impl Rounding {
    /// Every mode.
    pub const ALL: [Self; 7] =
        [Self::HalfUp, Self::HalfDown, Self::HalfEven, Self::Up, Self::Down, Self::Ceiling, Self::Floor];

    /// The one place where an amount is rounded: a number of minor units becomes a whole one.
    pub(crate) fn to_whole(self, minor: Decimal) -> Result<i64, MoneyError> {
        i64::try_from(minor.round_dp_with_strategy(0, self.strategy()))
            .map_err(|_overflow| MoneyError::Overflow)
    }

    const fn strategy(self) -> RoundingStrategy {
        match self {
            Self::HalfUp => RoundingStrategy::MidpointAwayFromZero,
            Self::HalfDown => RoundingStrategy::MidpointTowardZero,
            Self::HalfEven => RoundingStrategy::MidpointNearestEven,
            Self::Up => RoundingStrategy::AwayFromZero,
            Self::Down => RoundingStrategy::ToZero,
            Self::Ceiling => RoundingStrategy::ToPositiveInfinity,
            Self::Floor => RoundingStrategy::ToNegativeInfinity,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mode_does_what_its_name_says() {
        let numbers = [25, -25, 21, -21, 35, -35, 20].map(|tenths| Decimal::new(tenths, 1));
        for (mode, whole) in [
            (Rounding::HalfUp, [3, -3, 2, -2, 4, -4, 2]),
            (Rounding::HalfDown, [2, -2, 2, -2, 3, -3, 2]),
            (Rounding::HalfEven, [2, -2, 2, -2, 4, -4, 2]),
            (Rounding::Up, [3, -3, 3, -3, 4, -4, 2]),
            (Rounding::Down, [2, -2, 2, -2, 3, -3, 2]),
            (Rounding::Ceiling, [3, -2, 3, -2, 4, -3, 2]),
            (Rounding::Floor, [2, -3, 2, -3, 3, -4, 2]),
        ] {
            assert_eq!(numbers.map(|number| mode.to_whole(number).unwrap()), whole, "{mode:?}");
        }
    }

    #[test]
    fn what_does_not_fit_is_not_cut_off() {
        assert_eq!(Rounding::HalfUp.to_whole(Decimal::MAX), Err(MoneyError::Overflow));
    }
}
