//! What an amount buys: the lines of a receipt, which always add up to the tendered amount.

use money::{Currency, Money};
use rust_decimal::{Decimal, RoundingStrategy};
use sts::CreditAmount;

use crate::{product::Service, refusal::Refusal, scenario::Scenario, xmlvend::VendRequest};

/// Value added tax in per cent, included in the price of a unit.
pub(crate) const VAT_PERCENT: i64 = 14;

/// The charge on each purchase of meters with a small tariff charge: 5.00.
const TARIFF_CHARGE_MINOR: i64 = 500;
/// The share of the rest that goes to the debt on the sub-account, in per cent.
const SUB_ACCOUNT_PERCENT: i64 = 10;
/// The levy of such meters on what is left then, in per cent.
const LEVY_PERCENT: i64 = 2;
/// The regulator's fee on the same amount, in per cent.
const REGULATORY_FEE_PERCENT: i64 = 1;
/// The charge on each purchase of fixed-charge meters (specification, section 8): 1000.00.
const FIXED_CHARGE_MINOR: i64 = 100_000;
/// The maximum of one purchase for the maximum-vend meter (specification, section 8): 100000.00.
const MAXIMUM_MINOR: i64 = 10_000_000;

/// The prices, and the rules for rounding.
#[derive(Debug)]
pub(crate) struct Tariff {
    currency: Currency,
    prices: Prices,
}

/// The price of a unit, tax included, in currency units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prices {
    pub(crate) per_kwh: Decimal,
    pub(crate) per_cubic_metre: Decimal,
}

/// The division of a tendered amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Split {
    /// The amount paid.
    pub(crate) tender: Money,
    /// The part that buys units, tax included.
    pub(crate) credit: Money,
    /// The tax within `credit`.
    pub(crate) vat: Money,
    /// The fixed charge, if the meter has one.
    pub(crate) fixed_charge: Option<Money>,
    /// The part for the debt on the sub-account, if the meter has one.
    pub(crate) debt_recovery: Option<Money>,
    /// The levy, if the meter's tariff has one.
    pub(crate) levy: Option<Money>,
    /// The regulator's fee, if the meter's tariff has one.
    pub(crate) regulatory_fee: Option<Money>,
    /// The units that the meter will be credited with.
    pub(crate) units: CreditAmount,
}

/// The limits of one purchase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) minimum: Option<Money>,
    pub(crate) maximum: Option<Money>,
}

impl Tariff {
    pub(crate) fn new(currency: Currency, prices: Prices) -> Self {
        Self { currency, prices }
    }

    pub(crate) fn currency(&self) -> Currency {
        self.currency
    }

    /// The amount of an order. Refuses another currency and an invalid amount.
    pub(crate) fn tender(&self, order: &VendRequest) -> Result<Money, Refusal> {
        if order.currency.as_deref().is_some_and(|symbol| symbol != self.currency.as_str()) {
            return Err(Refusal::other_currency());
        }
        money::parse_amount(&order.amount, self.currency).map_err(|why| Refusal::schema(why.to_string()))
    }

    /// The minimum is one thebe more than the fixed charge, so that something is left to buy units.
    pub(crate) fn limits(&self, scenario: Scenario) -> Limits {
        Limits {
            minimum: fixed_charge(scenario).map(|charge| self.money(charge + 1)),
            maximum: (scenario == Scenario::MaximumVend).then(|| self.money(MAXIMUM_MINOR)),
        }
    }

    /// Divides the tendered amount for a meter, or refuses it.
    ///
    /// Units are rounded down to a tenth of a kWh or of a cubic metre. The minimum is one tenth, so every paid amount
    /// buys something.
    pub(crate) fn split(
        &self,
        service: Service,
        scenario: Scenario,
        tender: Money,
    ) -> Result<Split, Refusal> {
        let limits = self.limits(scenario);
        if limits.minimum.is_some_and(|minimum| tender.minor() < minimum.minor()) {
            return Err(Refusal::below_minimum());
        }
        if let Some(maximum) = limits.maximum.filter(|maximum| tender.minor() > maximum.minor()) {
            return Err(Refusal::above_maximum(maximum));
        }
        let fixed_charge = fixed_charge(scenario);
        let after_fixed_charge = tender.minor() - fixed_charge.unwrap_or(0);
        let debt_recovery = debt_recovery(scenario, after_fixed_charge);
        let taxable = after_fixed_charge - debt_recovery.unwrap_or(0);
        let [levy, regulatory_fee] = [LEVY_PERCENT, REGULATORY_FEE_PERCENT]
            .map(|percent| has_tariff_charge(scenario).then(|| self.money(taxable * percent / 100)));
        let taken = [levy, regulatory_fee].into_iter().flatten().map(Money::minor).sum::<i64>();
        let credit = self.money(taxable - taken);
        Ok(Split {
            tender,
            credit,
            vat: self.money(vat_within(credit.minor())),
            fixed_charge: fixed_charge.map(|minor| self.money(minor)),
            debt_recovery: debt_recovery.map(|minor| self.money(minor)),
            levy,
            regulatory_fee,
            units: self.units_for(service, credit)?,
        })
    }

    fn units_for(&self, service: Service, credit: Money) -> Result<CreditAmount, Refusal> {
        let price = match service {
            Service::Electricity => self.prices.per_kwh,
            Service::Water => self.prices.per_cubic_metre,
        };
        let tenths = credit
            .to_decimal()
            .checked_mul(Decimal::TEN)
            .and_then(|tenfold| tenfold.checked_div(price))
            .and_then(|tenths| u64::try_from(tenths.floor()).ok())
            .ok_or_else(Refusal::too_much_for_one_token)?;
        CreditAmount::rounding_up(tenths.max(1)).map_err(|_overflow| Refusal::too_much_for_one_token())
    }

    fn money(&self, minor: i64) -> Money {
        Money::from_minor(minor, self.currency)
    }
}

impl Split {
    /// The same lines with every amount replaced, for a falsified reply.
    pub(crate) fn map(self, change: impl Fn(Money) -> Money) -> Self {
        Self {
            tender: change(self.tender),
            credit: change(self.credit),
            vat: change(self.vat),
            fixed_charge: self.fixed_charge.map(&change),
            debt_recovery: self.debt_recovery.map(&change),
            levy: self.levy.map(&change),
            regulatory_fee: self.regulatory_fee.map(&change),
            units: self.units,
        }
    }
}

fn fixed_charge(scenario: Scenario) -> Option<i64> {
    if has_tariff_charge(scenario) {
        Some(TARIFF_CHARGE_MINOR)
    } else if matches!(scenario, Scenario::KeyChange | Scenario::FixedCharge) {
        Some(FIXED_CHARGE_MINOR)
    } else {
        None
    }
}

const fn has_tariff_charge(scenario: Scenario) -> bool {
    matches!(scenario, Scenario::TariffCharge | Scenario::TariffChargeSubAccount)
}

fn debt_recovery(scenario: Scenario, after_fixed_charge: i64) -> Option<i64> {
    (scenario == Scenario::TariffChargeSubAccount).then(|| after_fixed_charge * SUB_ACCOUNT_PERCENT / 100)
}

fn vat_within(credit: i64) -> i64 {
    let exact = Decimal::from(credit) * Decimal::from(VAT_PERCENT) / Decimal::from(100 + VAT_PERCENT);
    i64::try_from(exact.round_dp_with_strategy(0, RoundingStrategy::MidpointAwayFromZero))
        .expect("the tax is less than the amount that contains it")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tariff() -> Tariff {
        let prices = Prices { per_kwh: Decimal::new(150, 2), per_cubic_metre: Decimal::new(25, 0) };
        Tariff::new(Currency::parse("BWP").unwrap(), prices)
    }

    fn split(scenario: Scenario, minor: i64) -> Result<Split, Refusal> {
        tariff().split(Service::Electricity, scenario, tariff().money(minor))
    }

    #[test]
    fn an_ordinary_purchase_buys_electricity_with_all_of_it() {
        let split = split(Scenario::Active, 10_000).unwrap();
        assert_eq!((split.credit.minor(), split.vat.minor()), (10_000, 1_228));
        assert_eq!(split.units.tenths(), 666);
    }

    #[test]
    fn water_has_a_price_of_its_own() {
        let split = tariff().split(Service::Water, Scenario::Active, tariff().money(10_000)).unwrap();
        assert_eq!((split.credit.minor(), split.units.tenths()), (10_000, 40));
    }

    #[test]
    fn the_lines_add_up_to_what_was_tendered() {
        for minor in [501, 1_000, 10_001, 99_999] {
            let split = split(Scenario::TariffChargeSubAccount, minor).unwrap();
            let charges = [split.fixed_charge, split.debt_recovery, split.levy, split.regulatory_fee]
                .map(|line| line.unwrap().minor());
            assert_eq!(split.credit.minor() + charges.iter().sum::<i64>(), minor);
            assert!(split.credit.is_positive());
        }
    }

    #[test]
    fn a_fixed_charge_meter_sells_from_a_thebe_above_its_charge() {
        assert_eq!(split(Scenario::FixedCharge, 100_000), Err(Refusal::below_minimum()));
        let least = split(Scenario::FixedCharge, 100_001).unwrap();
        assert_eq!((least.credit.minor(), least.units.tenths()), (1, 1));
    }

    #[test]
    fn the_maximum_itself_may_be_bought() {
        assert!(split(Scenario::MaximumVend, 10_000_000).is_ok());
        assert!(split(Scenario::MaximumVend, 10_000_001).is_err());
    }

    #[test]
    fn more_than_a_token_can_carry_is_refused() {
        assert_eq!(split(Scenario::Active, 99_999_999_999), Err(Refusal::too_much_for_one_token()));
    }
}
