//! Everybody who can be sold to: those who have a name in the sandbox, and ordinary ones without number.

use crate::{
    product::Product,
    reloadly::phone_scenarios,
    scenario::{ScenarioMeter, scenarios, water_scenarios},
};

/// A subscriber that sandbox and tests know by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subscriber {
    /// The scenario's name, unique within a product: `lost_reply`.
    pub name: &'static str,
    /// What it is sold by: a meter number, or a telephone number as its E.164 digits.
    pub identifier: &'static str,
}

/// Every configured subscriber of a product.
pub fn subscribers(product: Product) -> Vec<Subscriber> {
    let on_the_wall = |meter: &ScenarioMeter| Subscriber { name: meter.name, identifier: meter.number };
    match product {
        Product::Electricity => scenarios().iter().map(on_the_wall).collect(),
        Product::Water => water_scenarios().iter().map(on_the_wall).collect(),
        Product::Airtime => phone_scenarios().to_vec(),
    }
}

/// The identifier of a product's subscriber of this name.
pub fn subscriber(product: Product, name: &str) -> Option<&'static str> {
    subscribers(product)
        .into_iter()
        .find(|subscriber| subscriber.name == name)
        .map(|subscriber| subscriber.identifier)
}

/// The identifiers of `count` ordinary subscribers of a product, the same ones every time. Every such telephone is
/// in service; how many such meters there are is a setting.
pub fn ordinary(product: Product, count: u32) -> impl Iterator<Item = String> {
    (0..count).map(move |index| match product {
        Product::Electricity => meter_number("09", index),
        Product::Water => meter_number("29", index),
        Product::Airtime => format!("26774{index:06}"),
    })
}

/// The numbers of `count` ordinary electricity meters.
pub fn population(count: u32) -> impl Iterator<Item = String> {
    ordinary(Product::Electricity, count)
}

fn meter_number(manufacturer: &str, serial: u32) -> String {
    let payload = format!("{manufacturer}{serial:08}");
    let check = sts::luhn_check_digit(&payload).expect("the payload is digits");
    format!("{payload}{check}")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use sts::MeterNumber;

    use super::*;

    fn everybody(product: Product) -> Vec<String> {
        let named = subscribers(product).into_iter().map(|subscriber| subscriber.identifier.to_owned());
        named.chain(ordinary(product, 1_000)).collect()
    }

    #[test]
    fn every_meter_has_a_meter_number_and_no_two_are_alike() {
        let numbers = [everybody(Product::Electricity), everybody(Product::Water)].concat();
        assert_eq!(numbers.iter().collect::<HashSet<_>>().len(), 2_024);
        for number in numbers {
            assert!(MeterNumber::parse(&number).is_ok(), "{number}");
        }
    }

    #[test]
    fn every_telephone_is_a_mobile_of_botswana_and_no_two_are_alike() {
        let numbers = everybody(Product::Airtime);
        assert_eq!(numbers.iter().collect::<HashSet<_>>().len(), 1_004);
        for number in numbers {
            assert!(number.len() == 11 && number.starts_with("2677"), "{number}");
            assert!(number.bytes().all(|byte| byte.is_ascii_digit()), "{number}");
        }
    }

    #[test]
    fn a_subscriber_is_found_by_product_and_name() {
        assert_eq!(subscriber(Product::Electricity, "active_11_digit"), Some("07000010012"));
        assert_eq!(subscriber(Product::Airtime, "active_11_digit"), None);
        let names = |product| subscribers(product).into_iter().map(|one| one.name).collect::<Vec<_>>();
        assert_eq!(names(Product::Electricity).len(), 21);
        assert_eq!(names(Product::Water), ["active", "no_token", "blocked"]);
        assert_eq!(names(Product::Airtime), ["active", "invalid", "processing", "lost_reply"]);
    }
}
