//! The products of the simulator, and the services of its meters.

use rust_decimal::Decimal;
use sts::CreditKind;

/// Litres in a tenth of a kilolitre. A kilolitre is a cubic metre.
const LITRES_PER_TENTH: u64 = 100;

/// A product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Product {
    /// Bought for a meter over XMLVend.
    Electricity,
    /// Bought for a meter over XMLVend.
    Water,
    /// Bought for a telephone over the top-up interface.
    Airtime,
}

/// The service that a meter delivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Service {
    Electricity,
    Water,
}

impl Product {
    /// The name of the product in the vend log: `ELECTRICITY`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Electricity => "ELECTRICITY",
            Self::Water => "WATER",
            Self::Airtime => "AIRTIME",
        }
    }
}

impl Service {
    /// The service with this XMLVend resource type, if meters here deliver it.
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

    /// The unit on a receipt. Tokens count tenths of it.
    pub(crate) const fn unit(self) -> &'static str {
        match self {
            Self::Electricity => "kWh",
            Self::Water => "kl",
        }
    }

    /// A meter's display of this number of tenths: kilowatt-hours (`45.2`), or litres (`4500`).
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
