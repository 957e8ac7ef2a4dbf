//! The settings that affect the reading and judging of replies, validated once.

use money::Currency;
use rust_decimal::Decimal;
use vend::Product;

use crate::fault_texts::FaultTexts;
use crate::resource::measured;
use crate::settings::{LineDescriptions, SettingsError, XmlVendSettings};

/// The inputs for judging a reply, except the reply and the question themselves.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    /// The currency of the gateway, also for amounts without a symbol.
    pub(crate) currency: Currency,
    pub(crate) tax_included: bool,
    pub(crate) lines: LineDescriptions,
    pub(crate) fault_texts: FaultTexts,
    pub(crate) electricity_unit: String,
    pub(crate) water_unit: String,
}

impl Rules {
    pub(crate) fn new(settings: &XmlVendSettings) -> Result<Self, SettingsError> {
        if measured(Decimal::ONE, &settings.water_unit, Product::Water).is_none() {
            return Err(SettingsError::BadWaterUnit(settings.water_unit.clone()));
        }
        Ok(Self {
            currency: settings.currency()?,
            tax_included: settings.tax_included,
            lines: settings.lines.clone(),
            fault_texts: FaultTexts::new(&settings.fault_texts)?,
            electricity_unit: settings.electricity_unit.clone(),
            water_unit: settings.water_unit.clone(),
        })
    }

    /// The unit of a product if the gateway states none.
    pub(crate) fn unit(&self, product: Product) -> &str {
        match product {
            Product::Electricity => &self.electricity_unit,
            Product::Water => &self.water_unit,
            Product::Airtime => "",
        }
    }
}
