//! All subscribers: the named ones of the sandbox, and any number of ordinary ones.

use crate::{
    product::Product,
    reloadly::phone_scenarios,
    scenario::{ScenarioMeter, scenarios, water_scenarios},
};

/// A subscriber with a name in the sandbox and in tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subscriber {
    /// The scenario's name, unique within a product: `lost_reply`.
    pub name: &'static str,
    /// Its identifier: a meter number, or a telephone number as E.164 digits.
    pub identifier: &'static str,
}

/// All named subscribers of a product.
pub fn subscribers(product: Product) -> Vec<Subscriber> {
    let metered = |meter: &ScenarioMeter| Subscriber { name: meter.name, identifier: meter.number };
    match product {
        Product::Electricity => scenarios().iter().map(metered).collect(),
        Product::Water => water_scenarios().iter().map(metered).collect(),
        Product::Airtime => phone_scenarios().to_vec(),
    }
}

/// The identifier of the subscriber of a product with this name.
pub fn subscriber(product: Product, name: &str) -> Option<&'static str> {
    subscribers(product)
        .into_iter()
        .find(|subscriber| subscriber.name == name)
        .map(|subscriber| subscriber.identifier)
}

/// The identifiers of `count` ordinary subscribers of a product, always the same. Every such telephone is in service.
/// The number of such meters is a setting.
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

    fn all_identifiers(product: Product) -> Vec<String> {
        let named = subscribers(product).into_iter().map(|subscriber| subscriber.identifier.to_owned());
        named.chain(ordinary(product, 1_000)).collect()
    }

    #[test]
    fn every_meter_has_a_meter_number_and_no_two_are_alike() {
        let numbers = [all_identifiers(Product::Electricity), all_identifiers(Product::Water)].concat();
        assert_eq!(numbers.iter().collect::<HashSet<_>>().len(), 2_025);
        for number in numbers {
            assert!(MeterNumber::parse(&number).is_ok(), "{number}");
        }
    }

    #[test]
    fn every_telephone_is_a_mobile_of_botswana_and_no_two_are_alike() {
        let numbers = all_identifiers(Product::Airtime);
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
        assert_eq!(names(Product::Electricity).len(), 22);
        assert_eq!(names(Product::Water), ["active", "no_token", "blocked"]);
        assert_eq!(names(Product::Airtime), ["active", "invalid", "processing", "lost_reply"]);
    }
}
