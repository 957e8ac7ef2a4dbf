//! Division without loss: the parts of an amount always add up to it.

use core::cmp::Reverse;

use alloc::vec::Vec;

use crate::Money;

/// Why an amount cannot be split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SplitError {
    /// There are no parts, or all their shares are zero.
    #[error("an amount cannot be split into no parts")]
    NoParts,
}

impl Money {
    /// Splits the amount in these proportions. The parts add up to the amount exactly.
    ///
    /// Each part first gets its share, rounded towards zero. The minor units that are left go to the parts that lost the largest
    /// fractions, one each, and among equals to the earlier one. So the same arguments always give the same parts. A
    /// part with the share zero gets nothing.
    ///
    /// ```
    /// use money::Money;
    ///
    /// let parts = "BWP 100.00".parse::<Money>()?.split(&[1, 1, 1])?;
    /// let texts: Vec<String> = parts.iter().map(Money::to_string).collect();
    /// assert_eq!(texts, ["BWP 33.34", "BWP 33.33", "BWP 33.33"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn split(self, shares: &[u32]) -> Result<Vec<Self>, SplitError> {
        let whole: i128 = shares.iter().copied().map(i128::from).sum();
        if whole == 0 {
            return Err(SplitError::NoParts);
        }
        let amount = i128::from(self.minor());
        let exact = shares.iter().map(|share| amount * i128::from(*share));
        let mut parts: Vec<i128> = exact.clone().map(|part| part / whole).collect();
        let left = amount - parts.iter().sum::<i128>();

        let mut by_loss: Vec<(Reverse<i128>, usize)> =
            exact.enumerate().map(|(index, part)| (Reverse((part % whole).abs()), index)).collect();
        by_loss.sort_unstable();
        // Fewer minor units are left than parts have lost a fraction.
        let winners =
            by_loss.into_iter().map(|(_, index)| index).take(usize::try_from(left.abs()).unwrap_or(0));
        for index in winners {
            if let Some(part) = parts.get_mut(index) {
                *part += left.signum();
            }
        }
        let part = |minor| {
            let minor = i64::try_from(minor).expect("a part is not larger than the amount");
            Self::from_minor(minor, self.currency())
        };
        Ok(parts.into_iter().map(part).collect())
    }

    /// Splits the amount into this number of parts that differ by one minor unit at most, the larger ones first.
    pub fn split_evenly(self, parts: usize) -> Result<Vec<Self>, SplitError> {
        self.split(&alloc::vec![1; parts])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Currency;

    fn split(minor: i64, shares: &[u32]) -> Vec<i64> {
        let amount = Money::from_minor(minor, Currency::parse("BWP").unwrap());
        amount.split(shares).unwrap().into_iter().map(Money::minor).collect()
    }

    #[test]
    fn what_is_left_goes_to_those_who_lost_most_and_then_to_the_earlier() {
        assert_eq!(split(100, &[1, 1, 1]), [34, 33, 33]);
        assert_eq!(split(101, &[1, 1, 1]), [34, 34, 33]);
        assert_eq!(split(-100, &[1, 1, 1]), [-34, -33, -33]);
        assert_eq!(split(5, &[3, 7]), [2, 3]);
        assert_eq!(split(10, &[15, 85]), [2, 8]);
        assert_eq!(split(10, &[14, 86]), [1, 9]);
        assert_eq!(split(7, &[0, 1, 0]), [0, 7, 0]);
        assert_eq!(split(0, &[1, 2]), [0, 0]);
        assert_eq!(split(1, &[1, 0, 1]), [1, 0, 0]);
    }

    #[test]
    fn an_amount_is_not_split_into_no_parts() {
        let amount = Money::from_minor(1, Currency::parse("BWP").unwrap());
        for shares in [&[][..], &[0, 0]] {
            assert_eq!(amount.split(shares), Err(SplitError::NoParts));
        }
        assert_eq!(amount.split_evenly(0), Err(SplitError::NoParts));
    }

    proptest! {
        #[test]
        fn parts_add_up_and_are_within_one_minor_unit_of_their_share(
            minor: i64,
            shares in prop::collection::vec(any::<u32>(), 1..20),
        ) {
            let whole: i128 = shares.iter().copied().map(i128::from).sum();
            prop_assume!(whole > 0);
            let parts = split(minor, &shares);
            prop_assert_eq!(parts.iter().copied().map(i128::from).sum::<i128>(), i128::from(minor));
            for (part, share) in parts.into_iter().zip(shares) {
                let off = i128::from(part) * whole - i128::from(minor) * i128::from(share);
                prop_assert!(off.abs() < whole);
            }
        }

        #[test]
        fn even_parts_differ_by_one_at_most(minor: i64, count in 1_usize..50) {
            let amount = Money::from_minor(minor, Currency::parse("BWP").unwrap());
            let parts: Vec<i64> = amount.split_evenly(count).unwrap().into_iter().map(Money::minor).collect();
            let (least, most) = (parts.iter().min().unwrap(), parts.iter().max().unwrap());
            prop_assert!(most - least <= 1);
        }
    }
}
