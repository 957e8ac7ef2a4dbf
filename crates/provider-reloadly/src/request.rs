//! The order that is sent to the vendor.

use serde::Serialize;
use vend::VendOrder;

use crate::phone::Phone;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TopUpRequest<'a> {
    operator_id: u64,
    amount: String,
    use_local_amount: bool,
    custom_identifier: String,
    recipient_phone: RecipientPhone<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RecipientPhone<'a> {
    country_code: &'a str,
    number: &'a str,
}

/// The body of an order: an amount in the country's currency for this phone.
pub(crate) fn top_up(order: &VendOrder, operator: u64, phone: &Phone, country: &str) -> Vec<u8> {
    let request = TopUpRequest {
        operator_id: operator,
        amount: order.sale.amount.amount().to_string(),
        use_local_amount: true,
        custom_identifier: order.reference.to_string(),
        recipient_phone: RecipientPhone { country_code: country, number: phone.digits() },
    };
    serde_json::to_vec(&request).expect("a record of texts and numbers is JSON")
}

#[cfg(test)]
mod tests {
    use chrono::{TimeZone, Utc};
    use money::Money;
    use phonenumber::country::BW;
    use vend::{CallId, Product, ProviderReference, Sale, SubscriberIdentifier};

    use super::*;

    #[test]
    fn an_order_asks_for_the_phones_own_money_under_our_reference() {
        let at = Utc.with_ymd_and_hms(2026, 11, 20, 9, 30, 0).unwrap();
        let order = VendOrder {
            reference: ProviderReference::new(CallId::new(42, at).unwrap()),
            sale: Sale {
                product: Product::Airtime,
                subscriber: SubscriberIdentifier::parse("26771234567").unwrap(),
                amount: Money::parse_wire("BWP 10.50").unwrap(),
            },
        };
        let body = top_up(&order, 118, &Phone::ordered("26771234567", BW).unwrap(), "BW");
        assert_eq!(
            String::from_utf8(body).unwrap(),
            r#"{"operatorId":118,"amount":"10.50","useLocalAmount":true,"customIdentifier":"20261120093000-000042","recipientPhone":{"countryCode":"BW","number":"26771234567"}}"#
        );
    }
}
