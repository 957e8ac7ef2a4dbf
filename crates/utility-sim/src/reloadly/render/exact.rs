//! An amount as an exact JSON number, never converted to a float, and its currency.

use money::{Currency, Money};
use rust_decimal::Decimal;
use serde::{Serialize, Serializer, ser::Error};
use serde_json::value::RawValue;

/// Written with the four decimals of the aggregator: `10.5000`.
pub(super) struct Exact(pub(super) Money);

/// Written as its code: `"BWP"`.
pub(super) struct Code(pub(super) Currency);

const DECIMALS: u32 = 4;

impl Serialize for Exact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut units: Decimal = self.0.to_decimal();
        units.rescale(DECIMALS);
        RawValue::from_string(units.to_string()).map_err(S::Error::custom)?.serialize(serializer)
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_a_number_with_four_decimals_and_loses_nothing() {
        let pula = Currency::parse("BWP").unwrap();
        for (minor, text) in
            [(1_050, "10.5000"), (1, "0.0100"), (9_007_199_254_740_993, "90071992547409.9300")]
        {
            assert_eq!(serde_json::to_string(&Exact(Money::from_minor(minor, pula))).unwrap(), text);
        }
    }
}
