//! Orders: what they need before, what they contain, and what is refused without a request.

use std::time::Duration;

use provider::Provider;
use serde_json::{Value, json};
use vend::{Product, Refusal, RefusalReason, VendOutcome};

use super::{Merchant, open, order, order_for, refused};
use crate::counter::{Does, Endpoint, error, network};

#[tokio::test]
async fn an_order_is_one_post_in_the_phones_own_money_under_our_reference() {
    let merchant = Merchant::open().await;
    let VendOutcome::Vended(vend) = merchant.vends().await else { panic!("not vended") };
    assert_eq!(vend.provider_transaction, "77120");
    let seen = merchant.vendor.saw();
    assert_eq!(merchant.vendor.endpoints(), [Endpoint::Access, Endpoint::Operator, Endpoint::Order]);
    let path = "/reloadly/topups/operators/auto-detect/phone/26771234567/countries/BW";
    assert_eq!(seen[1].line, format!("GET {path} HTTP/1.1"));
    assert_eq!(seen[2].line, "POST /reloadly/topups/topups HTTP/1.1");
    for asked in &seen[1..] {
        assert!(asked.head.contains("accept: application/com.reloadly.topups-v1+json\r\n"), "{}", asked.head);
    }
    let head = &seen[2].head;
    assert!(head.contains("content-type: application/json\r\n"), "{head}");
    assert!(!head.contains("expect:") && !head.contains("transfer-encoding"), "{head}");
    let expected = json!({
        "operatorId": 118, "amount": "10.50", "useLocalAmount": true,
        "customIdentifier": "20261120093000-000042",
        "recipientPhone": {"countryCode": "BW", "number": "26771234567"},
    });
    assert_eq!(serde_json::from_str::<Value>(&seen[2].body).unwrap(), expected);
}

#[tokio::test]
async fn a_network_is_asked_for_once_in_a_while() {
    let merchant = Merchant::open().await;
    merchant.checks().await.unwrap();
    merchant.quotes().await.unwrap();
    merchant.vends().await;
    assert_eq!(merchant.vendor.requests_to(Endpoint::Operator), 1);
    merchant.clock.advance(Duration::from_mins(15));
    merchant.vends().await;
    assert_eq!(merchant.vendor.requests_to(Endpoint::Operator), 2);
    merchant.checks().await.unwrap();
    assert_eq!(merchant.vendor.requests_to(Endpoint::Operator), 3, "a check always asks the vendor");
}

#[tokio::test]
async fn a_refused_order_has_its_network_asked_for_again() {
    let merchant = Merchant::open().await;
    merchant.vendor.will(Endpoint::Order, [error(400, "INVALID_RECIPIENT_PHONE")]);
    let unknown = Refusal { reason: RefusalReason::UnknownSubscriber, wording: Some("no".to_owned()) };
    assert_eq!(merchant.vends().await, VendOutcome::Refused(unknown));
    merchant.vendor.will(Endpoint::Operator, [network(&json!({"operatorId": 119}))]);
    assert!(matches!(merchant.vends().await, VendOutcome::Vended(_)));
    assert!(merchant.vendor.saw()[4].body.contains("\"operatorId\":119"));
}

#[tokio::test]
async fn an_order_without_a_network_is_never_sent() {
    for (does, reason) in [
        (error(500, "X"), RefusalReason::NeverSent),
        (Does::Closes, RefusalReason::NeverSent),
        (Does::Answers(200, "{}".to_owned()), RefusalReason::NeverSent),
        (network(&json!({"supportsLocalAmounts": false})), RefusalReason::Unsupported),
        (network(&json!({"localMinAmount": 10.51})), RefusalReason::BelowMinimum),
        (network(&json!({"localMaxAmount": 10.49})), RefusalReason::AboveMaximum),
        (network(&json!({"destinationCurrencyCode": "ZAR"})), RefusalReason::Misconfigured),
        (Does::Answers(404, "gone".to_owned()), RefusalReason::UnknownSubscriber),
    ] {
        let merchant = Merchant::open().await;
        merchant.vendor.will(Endpoint::Operator, [does.clone()]);
        assert_eq!(merchant.vends().await, refused(reason), "{does:?}");
        assert_eq!(merchant.vendor.requests_to(Endpoint::Order), 0, "{does:?}");
    }
}

#[tokio::test]
async fn a_network_of_fixed_amounts_sells_those_alone() {
    let merchant = Merchant::open().await;
    let fixed = json!({"denominationType": "FIXED", "localFixedAmounts": [10.5, 20]});
    merchant.vendor.will(Endpoint::Operator, [network(&fixed)]);
    assert!(matches!(merchant.vends().await, VendOutcome::Vended(_)));
    let VendOutcome::Refused(refusal) =
        merchant.provider.vend(&order_for("26771234567", "BWP 15.00"), &open()).await
    else {
        panic!("not refused")
    };
    assert_eq!(refusal.reason, RefusalReason::Other);
    assert_eq!(refusal.wording.as_deref(), Some("the network sells only BWP 10.50, BWP 20.00"));
    assert_eq!(merchant.vendor.requests_to(Endpoint::Order), 1);
}

#[tokio::test]
async fn what_cannot_be_sold_here_is_refused_before_anything_is_opened() {
    let merchant = Merchant::open().await;
    // The last three are numbers of this country, but not in the form that a purchase must use.
    let others =
        ["27821234567", "7123", "04257670465", "a-number", "71234567", "+26771234567", "0026771234567"];
    for phone in others {
        let outcome = merchant.provider.vend(&order_for(phone, "BWP 10.00"), &open()).await;
        assert_eq!(outcome, refused(RefusalReason::UnknownSubscriber), "{phone}");
    }
    for product in [Product::Electricity, Product::Water] {
        let mut other = order();
        other.sale.product = product;
        let outcome = merchant.provider.vend(&other, &open()).await;
        assert_eq!(outcome, refused(RefusalReason::Misconfigured), "{product}");
    }
    assert_eq!(merchant.vendor.endpoints(), []);
    let rand = merchant.provider.vend(&order_for("26771234567", "ZAR 10.00"), &open()).await;
    assert_eq!(rand, refused(RefusalReason::Misconfigured));
    assert_eq!(merchant.vendor.requests_to(Endpoint::Order), 0);
}

#[tokio::test]
async fn the_network_of_a_number_is_asked_for_once() {
    let merchant = Merchant::open().await;
    for _ in 0..3 {
        let outcome = merchant.provider.vend(&order_for("26771234567", "BWP 10.00"), &open()).await;
        assert!(matches!(outcome, VendOutcome::Vended(_)), "{outcome:?}");
    }
    assert_eq!(merchant.vendor.requests_to(Endpoint::Operator), 1);
}
