//! The protocol's names of products, and the units in which we measure them.

use rust_decimal::Decimal;
use vend::{Product, Units};

/// The local part of the resource's type. The protocol has no airtime. `ConnectionTime` is another resource, but the
/// adapter refuses airtime before this function is called.
pub(crate) const fn resource(product: Product) -> &'static str {
    match product {
        Product::Electricity => "Electricity",
        Product::Water => "Water",
        Product::Airtime => "ConnectionTime",
    }
}

/// A quantity in the units of our API: water in litres, other products in the gateway's unit. `None` for water in a
/// unit that is not a volume, because no quantity is better than a wrong one.
pub(crate) fn measured(quantity: Decimal, unit: &str, product: Product) -> Option<Units> {
    match product {
        Product::Water => litres(quantity, unit),
        Product::Electricity | Product::Airtime => Some(Units { quantity, unit: unit.to_owned() }),
    }
}

fn litres(quantity: Decimal, unit: &str) -> Option<Units> {
    let litres = match unit.to_lowercase().as_str() {
        "l" | "litre" | "litres" | "liter" | "liters" => quantity,
        "kl" | "m3" | "m^3" | "m³" => quantity.checked_mul(Decimal::ONE_THOUSAND)?,
        _ => return None,
    };
    Some(Units { quantity: litres.normalize(), unit: "L".to_owned() })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn water(quantity: &str, unit: &str) -> Option<String> {
        measured(quantity.parse().unwrap(), unit, Product::Water).map(|units| units.to_string())
    }

    #[test]
    fn water_is_reported_in_litres_for_every_unit_of_the_gateway() {
        for (quantity, unit, told) in [
            ("1.5", "kl", "1500 L"),
            ("1.5", "kL", "1500 L"),
            ("0.0001", "m3", "0.1 L"),
            ("2", "m³", "2000 L"),
            ("12.50", "L", "12.5 L"),
            ("700", "litres", "700 L"),
        ] {
            assert_eq!(water(quantity, unit).as_deref(), Some(told), "{quantity} {unit}");
        }
        for unit in ["kWh", "gal", "", "k l"] {
            assert_eq!(water("1", unit), None, "{unit}");
        }
    }

    #[test]
    fn electricity_stays_as_the_gateway_writes_it() {
        let units = measured(Decimal::new(4_520, 2), "kWh", Product::Electricity);
        assert_eq!(units.unwrap().to_string(), "45.20 kWh");
    }

    proptest! {
        #[test]
        fn the_conversion_to_litres_is_exact(milli in 0_i64..1_000_000_000_000) {
            let kilolitres = measured(Decimal::new(milli, 3), "kl", Product::Water).unwrap();
            prop_assert_eq!(kilolitres.quantity, Decimal::from(milli));
        }
    }
}
