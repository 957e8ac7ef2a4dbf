//! The bodies of requests.

use money::Money;
use serde::Serialize;
use serde_json::value::RawValue;
use vend::{SubscriberIdentifier, VendOrder};

/// The vendor's name of a prepaid meter, in checks and in orders.
const PREPAID: &str = "prepaid";

#[derive(Serialize)]
struct VerifyRequest<'a> {
    #[serde(rename = "billersCode")]
    billers_code: &'a str,
    #[serde(rename = "serviceID")]
    service_id: &'a str,
    r#type: &'static str,
}

#[derive(Serialize)]
struct PayRequest<'a> {
    request_id: &'a str,
    #[serde(rename = "serviceID")]
    service_id: &'a str,
    #[serde(rename = "billersCode")]
    billers_code: &'a str,
    variation_code: &'static str,
    amount: Box<RawValue>,
    phone: &'a str,
}

#[derive(Serialize)]
struct RequeryRequest<'a> {
    request_id: &'a str,
}

/// The body of a customer check.
pub(crate) fn verify(service_id: &str, meter: &SubscriberIdentifier) -> Vec<u8> {
    json(&VerifyRequest { billers_code: meter.as_str(), service_id, r#type: PREPAID })
}

/// The body of an order.
pub(crate) fn pay(order: &VendOrder, request_id: &str, service_id: &str, phone: &str) -> Vec<u8> {
    json(&PayRequest {
        request_id,
        service_id,
        billers_code: order.sale.subscriber.as_str(),
        variation_code: PREPAID,
        amount: number(order.sale.amount),
        phone,
    })
}

/// The body of an enquiry.
pub(crate) fn requery(request_id: &str) -> Vec<u8> {
    json(&RequeryRequest { request_id })
}

/// The amount as a JSON number with its exact digits: the vendor's documents call it a number.
fn number(amount: Money) -> Box<RawValue> {
    let digits = amount.to_decimal().normalize().to_string();
    RawValue::from_string(digits).expect("a decimal is a JSON number")
}

fn json(body: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(body).expect("a record of texts and numbers is JSON")
}

#[cfg(test)]
mod tests {
    use chrono::{TimeZone, Utc};
    use vend::{CallId, Product, ProviderReference, Sale};

    use super::*;

    fn order(amount: &str) -> VendOrder {
        let at = Utc.with_ymd_and_hms(2026, 11, 20, 9, 30, 0).unwrap();
        VendOrder {
            reference: ProviderReference::new(CallId::new(42, at).unwrap()),
            sale: Sale {
                product: Product::Electricity,
                subscriber: SubscriberIdentifier::parse("1111111111111").unwrap(),
                amount: Money::parse_wire(amount).unwrap(),
            },
        }
    }

    #[test]
    fn an_order_has_the_fields_of_the_documents_and_exact_digits() {
        for (amount, digits) in [("NGN 2000.00", "2000"), ("NGN 2000.50", "2000.5"), ("NGN 0.01", "0.01")] {
            let body =
                pay(&order(amount), "20261120103000000042ikejaelectric", "ikeja-electric", "08011111111");
            assert_eq!(
                String::from_utf8(body).unwrap(),
                format!(
                    r#"{{"request_id":"20261120103000000042ikejaelectric","serviceID":"ikeja-electric","billersCode":"1111111111111","variation_code":"prepaid","amount":{digits},"phone":"08011111111"}}"#
                )
            );
        }
    }

    #[test]
    fn a_check_names_the_meter_the_service_and_the_kind_of_meter() {
        let body = verify("ikeja-electric", &order("NGN 1.00").sale.subscriber);
        let text = r#"{"billersCode":"1111111111111","serviceID":"ikeja-electric","type":"prepaid"}"#;
        assert_eq!(String::from_utf8(body).unwrap(), text);
    }
}
