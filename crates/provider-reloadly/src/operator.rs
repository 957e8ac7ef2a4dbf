//! The network that a number belongs to, and what it sells.

use money::Money;
use vend::{Customer, Refusal, RefusalReason};

/// A network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Operator {
    pub(crate) id: u64,
    pub(crate) selling: Selling,
}

/// What a network sells in the money of its country.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Selling {
    /// Any amount within these limits. A missing limit does not restrict.
    Range { minimum: Option<Money>, maximum: Option<Money> },
    /// Only these amounts, in rising order.
    Fixed(Denominations),
    /// Nothing, because it takes orders only by the amount charged to us, not by the amount that the phone gets.
    Nothing,
}

/// At least one amount, in rising order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Denominations {
    smallest: Money,
    others: Vec<Money>,
}

impl Operator {
    /// The customer data for a number of this network. It has no name, because the network's name is not the
    /// consumer's.
    pub(crate) fn customer(&self) -> Customer {
        let (minimum, maximum) = match &self.selling {
            Selling::Range { minimum, maximum } => (*minimum, *maximum),
            Selling::Fixed(denominations) => (Some(denominations.smallest), Some(denominations.largest())),
            Selling::Nothing => (None, None),
        };
        let barred = match &self.selling {
            Selling::Nothing => Some(sells_nothing()),
            Selling::Range { .. } | Selling::Fixed(_) => None,
        };
        Customer { name: None, barred, minimum, maximum }
    }

    /// Succeeds if the network sells this amount.
    pub(crate) fn admit(&self, amount: Money) -> Result<(), Refusal> {
        match &self.selling {
            Selling::Nothing => Err(sells_nothing()),
            Selling::Range { minimum, maximum } => within(amount, *minimum, *maximum),
            Selling::Fixed(denominations) => {
                within(amount, Some(denominations.smallest), Some(denominations.largest()))?;
                if denominations.all().any(|one| one == amount) {
                    Ok(())
                } else {
                    Err(Refusal { reason: RefusalReason::Other, wording: Some(denominations.wording()) })
                }
            }
        }
    }
}

impl Denominations {
    /// Sorts the amounts and removes duplicates. `None` if there are no amounts.
    pub(crate) fn new(mut amounts: Vec<Money>) -> Option<Self> {
        amounts.sort_by_key(|amount| amount.minor());
        amounts.dedup();
        let smallest = *amounts.first()?;
        Some(Self { smallest, others: amounts.split_off(1) })
    }

    fn largest(&self) -> Money {
        self.others.last().copied().unwrap_or(self.smallest)
    }

    fn all(&self) -> impl Iterator<Item = Money> {
        std::iter::once(self.smallest).chain(self.others.iter().copied())
    }

    fn wording(&self) -> String {
        let amounts: Vec<String> = self.all().map(|amount| amount.to_string()).collect();
        format!("the network sells only {}", amounts.join(", "))
    }
}

impl Selling {
    /// Fixed amounts, or `Nothing` if there are none.
    pub(crate) fn fixed(amounts: Vec<Money>) -> Self {
        Denominations::new(amounts).map_or(Self::Nothing, Self::Fixed)
    }

    /// Any amount within these limits.
    pub(crate) fn range(minimum: Option<Money>, maximum: Option<Money>) -> Self {
        Self::Range { minimum, maximum }
    }
}

fn within(amount: Money, minimum: Option<Money>, maximum: Option<Money>) -> Result<(), Refusal> {
    if minimum.is_some_and(|least| amount.minor() < least.minor()) {
        return Err(Refusal::because(RefusalReason::BelowMinimum));
    }
    if maximum.is_some_and(|most| amount.minor() > most.minor()) {
        return Err(Refusal::because(RefusalReason::AboveMaximum));
    }
    Ok(())
}

const fn sells_nothing() -> Refusal {
    Refusal::because(RefusalReason::Unsupported)
}

#[cfg(test)]
mod tests {
    use money::Currency;
    use proptest::prelude::*;

    use super::*;

    fn pula(minor: i64) -> Money {
        Money::from_minor(minor, Currency::parse("BWP").unwrap())
    }

    fn operator(selling: Selling) -> Operator {
        Operator { id: 118, selling }
    }

    fn refused(reason: RefusalReason) -> Result<(), Refusal> {
        Err(Refusal::because(reason))
    }

    #[test]
    fn a_range_admits_its_ends_and_all_amounts_between() {
        let network = operator(Selling::range(Some(pula(500)), Some(pula(50_000))));
        for minor in [500, 1_234, 50_000] {
            assert_eq!(network.admit(pula(minor)), Ok(()), "{minor}");
        }
        assert_eq!(network.admit(pula(499)), refused(RefusalReason::BelowMinimum));
        assert_eq!(network.admit(pula(50_001)), refused(RefusalReason::AboveMaximum));
        assert_eq!(operator(Selling::range(None, None)).admit(pula(1)), Ok(()));
    }

    #[test]
    fn an_order_for_another_amount_is_refused_with_the_fixed_amounts() {
        let network = operator(Selling::fixed(vec![pula(2_000), pula(500), pula(1_000), pula(500)]));
        for minor in [500, 1_000, 2_000] {
            assert_eq!(network.admit(pula(minor)), Ok(()), "{minor}");
        }
        assert_eq!(network.admit(pula(499)), refused(RefusalReason::BelowMinimum));
        assert_eq!(network.admit(pula(2_001)), refused(RefusalReason::AboveMaximum));
        let refusal = network.admit(pula(700)).unwrap_err();
        assert_eq!(refusal.reason, RefusalReason::Other);
        let wording = "the network sells only BWP 5.00, BWP 10.00, BWP 20.00";
        assert_eq!(refusal.wording.as_deref(), Some(wording));
        let customer = network.customer();
        assert_eq!((customer.minimum, customer.maximum), (Some(pula(500)), Some(pula(2_000))));
    }

    #[test]
    fn a_network_that_takes_no_local_amounts_is_barred_before_money_moves() {
        for network in [operator(Selling::Nothing), operator(Selling::fixed(Vec::new()))] {
            assert_eq!(network.admit(pula(500)), refused(RefusalReason::Unsupported));
            assert_eq!(network.customer().barred, Some(Refusal::because(RefusalReason::Unsupported)));
        }
    }

    proptest! {
        #[test]
        fn what_the_check_rules_out_is_never_admitted(
            fixed in prop::collection::vec(1_i64..1_000, 1..6), asked in 1_i64..1_100,
        ) {
            let network = operator(Selling::fixed(fixed.iter().copied().map(pula).collect()));
            let customer = network.customer();
            let outside = asked < customer.minimum.unwrap().minor() || asked > customer.maximum.unwrap().minor();
            prop_assert_eq!(network.admit(pula(asked)).is_ok(), fixed.contains(&asked));
            prop_assert!(!(outside && network.admit(pula(asked)).is_ok()));
        }
    }
}
