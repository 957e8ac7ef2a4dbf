//! The utility's register of meters.

use std::collections::HashMap;

use sts::{MeterNumber, MeterNumberError};

use crate::{
    meter::Meter,
    product::Service,
    refusal::Refusal,
    scenario::{Scenario, ScenarioMeter, scenarios, water_scenarios},
    subscriber::ordinary,
};

/// All meters, by number.
#[derive(Debug)]
pub(crate) struct Meters(HashMap<String, Meter>);

impl Meters {
    /// The meters of all scenarios, and this many ordinary meters for electricity and for water.
    pub(crate) fn register(electricity: u32, water: u32) -> Self {
        let electricity = installed(Service::Electricity, scenarios(), electricity);
        let water = installed(Service::Water, water_scenarios(), water);
        Self(electricity.chain(water).collect())
    }

    /// The meter with this number for this service, or the utility's refusal.
    pub(crate) fn find_for(&self, service: Service, number: &str) -> Result<&Meter, Refusal> {
        let meter = self.find(number)?;
        if meter.service() == service { Ok(meter) } else { Err(Refusal::unknown_meter()) }
    }

    /// The meter with this number, or the utility's refusal.
    pub(crate) fn find(&self, number: &str) -> Result<&Meter, Refusal> {
        self.0.get(number).ok_or_else(|| match MeterNumber::parse(number) {
            Err(MeterNumberError::CheckDigit { .. }) => Refusal::wrong_check_digit(),
            Ok(_) | Err(MeterNumberError::NotDigits | MeterNumberError::Length { .. }) => {
                Refusal::unknown_meter()
            }
        })
    }
}

fn installed(
    service: Service,
    configured: &'static [ScenarioMeter],
    count: u32,
) -> impl Iterator<Item = (String, Meter)> {
    let configured = configured.iter().map(|meter| (meter.number.to_owned(), meter.scenario));
    let ordinary = ordinary(service.product(), count).map(|number| (number, Scenario::Active));
    configured.chain(ordinary).map(move |(number, scenario)| {
        let printed = MeterNumber::parse(&number).expect("registered numbers are meter numbers");
        (number, Meter::new(printed, service, scenario))
    })
}

/// The number of a meter that is not registered, for answers about another meter.
pub(crate) fn another_meter() -> MeterNumber {
    MeterNumber::parse("07040904562").expect("the check digit is right")
}
