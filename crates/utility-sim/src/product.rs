//! What can be bought in this world, and what the meters on its walls give out.

use rust_decimal::Decimal;
use sts::CreditKind;

/// Litres in a tenth of a kilolitre, which is a cubic metre.
const LITRES_PER_TENTH: u64 = 100;

/// What a subscriber is sold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Product {
    /// For a meter, over XMLVend.
    Electricity,
    /// For a meter, over XMLVend.
    Water,
    /// For a telephone, over the top-up interface.
    Airtime,
}

/// What a meter gives out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Service {
    Electricity,
    Water,
}

impl Product {
    /// The product as the vend log names it: `ELECTRICITY`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Electricity => "ELECTRICITY",
            Self::Water => "WATER",
            Self::Airtime => "AIRTIME",
        }
    }
}

impl Service {
    /// The service that XMLVend calls a resource of this type, if meters here give it out.
    pub(crate) fn of_resource(type_name: &str) -> Option<Self> {
        [Self::Electricity, Self::Water].into_iter().find(|service| service.resource() == type_name)
    }

    pub(crate) const fn resource(self) -> &'static str {
        match self {
            Self::Electricity => "Electricity",
            Self::Water => "Water",
        }
    }

    pub(crate) const fn product(self) -> Product {
        match self {
            Self::Electricity => Product::Electricity,
            Self::Water => Product::Water,
        }
    }

    /// The kind of credit that its tokens carry.
    pub(crate) const fn credit_kind(self) -> CreditKind {
        match self {
            Self::Electricity => CreditKind::Electricity,
            Self::Water => CreditKind::Water,
        }
    }

    /// The unit on a receipt; tokens count tenths of it.
    pub(crate) const fn unit(self) -> &'static str {
        match self {
            Self::Electricity => "kWh",
            Self::Water => "kl",
        }
    }

    /// What a meter shows for so many tenths: kilowatt-hours (`45.2`), or litres (`4500`).
    pub(crate) fn shown(self, tenths: u64) -> String {
        match self {
            Self::Electricity => in_units(tenths),
            Self::Water => tenths.saturating_mul(LITRES_PER_TENTH).to_string(),
        }
    }
}

/// Tenths as a receipt prints them: `45.2`.
pub(crate) fn in_units(tenths: u64) -> String {
    Decimal::from_i128_with_scale(i128::from(tenths), 1).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meters_show_kilowatt_hours_and_litres() {
        assert_eq!(Service::Electricity.shown(452), "45.2");
        assert_eq!(Service::Electricity.shown(20), "2.0");
        assert_eq!(Service::Water.shown(45), "4500");
    }

    #[test]
    fn a_resource_that_no_meter_gives_out_is_no_service() {
        assert_eq!(Service::of_resource("Water"), Some(Service::Water));
        assert_eq!(Service::of_resource("Gas"), None);
    }
}
