//! What a purchase costs. Rounding happens once, in `money`.

use std::cmp::Ordering;

use money::{Currency, Money, MoneyError, Rate};

/// A fee: a fixed part plus a share of the amount, within a floor and a cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeeSchedule {
    /// Charged on every purchase.
    pub fixed: Money,
    /// A share of the requested amount.
    pub rate: Rate,
    /// The minimum fee.
    pub floor: Option<Money>,
    /// The maximum fee.
    pub cap: Option<Money>,
}

impl FeeSchedule {
    /// Charges nothing.
    pub const fn free(currency: Currency) -> Self {
        Self { fixed: Money::zero(currency), rate: Rate::ZERO, floor: None, cap: None }
    }

    fn fee_on(&self, amount: Money) -> Result<Money, MoneyError> {
        let fee = self.fixed.plus(amount.at_rate(self.rate)?)?;
        let raised = pick(fee, self.floor, Ordering::Less)?;
        pick(raised, self.cap, Ordering::Greater)
    }
}

/// The limit if `amount` compares to it as `when`, otherwise the amount.
fn pick(amount: Money, limit: Option<Money>, when: Ordering) -> Result<Money, MoneyError> {
    match limit {
        Some(limit) if amount.compare(limit)? == when => Ok(limit),
        Some(_) | None => Ok(amount),
    }
}

/// The terms that an organisation has agreed for one product of one provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Our fees.
    pub fees: FeeSchedule,
    /// The integrator's share of `net`.
    pub commission: Rate,
    /// The minimum amount that may be requested.
    pub minimum: Option<Money>,
    /// The maximum amount that may be requested.
    pub maximum: Option<Money>,
}

/// Why an amount has no price.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PriceError {
    /// Below the catalogue's minimum.
    #[error("the amount is below the minimum of {0}")]
    BelowMinimum(Money),
    /// Above the catalogue's maximum.
    #[error("the amount is above the maximum of {0}")]
    AboveMaximum(Money),
    /// Charges taken out of the amount leave nothing to vend.
    #[error("the charge of {charge} leaves nothing of {entry}")]
    BelowCharges {
        /// The requested amount.
        entry: Money,
        /// The charge for it.
        charge: Money,
    },
    /// The terms are in another currency than the amount, or a sum overflows.
    #[error("the price cannot be formed")]
    Money(#[from] MoneyError),
}

/// The five amounts of a purchase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// The requested amount.
    pub entry: Money,
    /// Our fee.
    pub charge: Money,
    /// What the provider is asked to vend.
    pub net: Money,
    /// What the wallet pays: `net + charge`.
    pub total: Money,
    /// What the integrator earns.
    pub commission: Money,
}

impl Price {
    /// Prices `amount`. On top: `net = amount`, `total = amount + charge`. Deducted:
    /// `net = amount - charge`, `total = amount`.
    pub fn of(amount: Money, charges_on_top: bool, terms: &Terms) -> Result<Self, PriceError> {
        within(amount, terms)?;
        let charge = terms.fees.fee_on(amount)?;
        let net = if charges_on_top { amount } else { amount.minus(charge)? };
        if !net.is_positive() {
            return Err(PriceError::BelowCharges { entry: amount, charge });
        }
        Ok(Self {
            entry: amount,
            charge,
            net,
            total: net.plus(charge)?,
            commission: net.at_rate(terms.commission)?,
        })
    }
}

fn within(amount: Money, terms: &Terms) -> Result<(), PriceError> {
    match terms.minimum {
        Some(minimum) if amount.compare(minimum)? == Ordering::Less => {
            return Err(PriceError::BelowMinimum(minimum));
        }
        Some(_) | None => {}
    }
    match terms.maximum {
        Some(maximum) if amount.compare(maximum)? == Ordering::Greater => {
            Err(PriceError::AboveMaximum(maximum))
        }
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pula(minor: i64) -> Money {
        Money::from_minor(minor, Currency::parse("BWP").unwrap())
    }

    fn terms() -> Terms {
        Terms {
            fees: FeeSchedule {
                fixed: pula(100),
                rate: Rate::parse("0.01").unwrap(),
                floor: Some(pula(150)),
                cap: Some(pula(1_000)),
            },
            commission: Rate::parse("0.005").unwrap(),
            minimum: Some(pula(500)),
            maximum: Some(pula(1_000_000)),
        }
    }

    #[test]
    fn charges_on_top_are_paid_beside_the_amount() {
        let price = Price::of(pula(10_000), true, &terms()).unwrap();
        assert_eq!((price.net, price.charge, price.total), (pula(10_000), pula(200), pula(10_200)));
        assert_eq!(price.commission, pula(50));
    }

    #[test]
    fn deducted_charges_are_paid_out_of_the_amount() {
        let price = Price::of(pula(10_000), false, &terms()).unwrap();
        assert_eq!((price.net, price.charge, price.total), (pula(9_800), pula(200), pula(10_000)));
        assert_eq!(price.commission, pula(49));
    }

    #[test]
    fn the_charge_stays_between_floor_and_cap() {
        assert_eq!(Price::of(pula(1_000), true, &terms()).unwrap().charge, pula(150));
        assert_eq!(Price::of(pula(1_000_000), true, &terms()).unwrap().charge, pula(1_000));
    }

    #[test]
    fn an_amount_that_the_charge_eats_up_is_refused() {
        let mut dear = terms();
        dear.fees.floor = Some(pula(500));
        assert_eq!(
            Price::of(pula(500), false, &dear),
            Err(PriceError::BelowCharges { entry: pula(500), charge: pula(500) })
        );
        assert!(Price::of(pula(500), true, &dear).is_ok());
    }

    #[test]
    fn the_limits_of_the_catalogue_are_inclusive() {
        assert_eq!(Price::of(pula(499), true, &terms()), Err(PriceError::BelowMinimum(pula(500))));
        assert_eq!(
            Price::of(pula(1_000_001), true, &terms()),
            Err(PriceError::AboveMaximum(pula(1_000_000)))
        );
        assert!(Price::of(pula(500), true, &terms()).is_ok());
        assert!(Price::of(pula(1_000_000), true, &terms()).is_ok());
    }

    proptest! {
        #[test]
        fn the_amounts_add_up_both_ways(minor in 500_i64..1_000_000, on_top: bool) {
            let price = Price::of(pula(minor), on_top, &terms()).unwrap();
            prop_assert_eq!(price.net.plus(price.charge).unwrap(), price.total);
            prop_assert_eq!(if on_top { price.net } else { price.total }, price.entry);
        }
    }
}
