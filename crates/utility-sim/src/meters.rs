//! The utility's register of meters.

use std::collections::HashMap;

use sts::{MeterNumber, MeterNumberError};

use crate::{
    meter::Meter,
    refusal::Refusal,
    scenario::{Scenario, population, scenarios},
};

/// Every meter, by its number.
#[derive(Debug)]
pub(crate) struct Meters(HashMap<String, Meter>);

impl Meters {
    /// The meters of all scenarios, and a population of ordinary ones.
    pub(crate) fn register(ordinary: u32) -> Self {
        let configured = scenarios().iter().map(|meter| (meter.number.to_owned(), meter.scenario));
        let ordinary = population(ordinary).map(|number| (number, Scenario::Active));
        let meters = configured.chain(ordinary).map(|(number, scenario)| {
            let printed = MeterNumber::parse(&number).expect("registered numbers are meter numbers");
            (number, Meter::new(printed, scenario))
        });
        Self(meters.collect())
    }

    /// The meter of this number, or what the utility says to it.
    pub(crate) fn find(&self, number: &str) -> Result<&Meter, Refusal> {
        self.0.get(number).ok_or_else(|| match MeterNumber::parse(number) {
            Err(MeterNumberError::CheckDigit { .. }) => Refusal::wrong_check_digit(),
            Ok(_) | Err(MeterNumberError::NotDigits | MeterNumberError::Length { .. }) => {
                Refusal::unknown_meter()
            }
        })
    }
}
