//! An operator in the aggregator's format.

use money::{Currency, Money};
use serde::Serialize;

use super::exact::{Code, Exact};
use crate::reloadly::operator::{COUNTRY, Operator};

/// An operator that sells any amount within a range.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OperatorBody<'a> {
    operator_id: u32,
    name: &'a str,
    bundle: bool,
    data: bool,
    pin: bool,
    supports_local_amounts: bool,
    denomination_type: &'static str,
    sender_currency_code: Code,
    destination_currency_code: Code,
    min_amount: Exact,
    max_amount: Exact,
    local_min_amount: Exact,
    local_max_amount: Exact,
    country: CountryBody,
    fx: RateBody,
    fixed_amounts: [Exact; 0],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CountryBody {
    iso_name: &'static str,
    name: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RateBody {
    rate: Exact,
    currency_code: Code,
}

impl<'a> OperatorBody<'a> {
    pub(super) fn new(operator: &'a Operator, currency: Currency) -> Self {
        let [minimum, maximum] = Operator::limits(currency);
        Self {
            operator_id: operator.id,
            name: operator.name,
            bundle: false,
            data: false,
            pin: false,
            supports_local_amounts: true,
            denomination_type: "RANGE",
            sender_currency_code: Code(currency),
            destination_currency_code: Code(currency),
            min_amount: Exact(minimum),
            max_amount: Exact(maximum),
            local_min_amount: Exact(minimum),
            local_max_amount: Exact(maximum),
            country: CountryBody { iso_name: COUNTRY, name: "Botswana" },
            fx: RateBody { rate: Exact(Money::from_minor(100, currency)), currency_code: Code(currency) },
            fixed_amounts: [],
        }
    }
}
