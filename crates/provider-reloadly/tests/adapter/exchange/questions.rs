//! Questions: they move no money, and report only what the answer states.

use std::num::NonZeroU32;

use chrono::{TimeZone, Utc};
use money::Money;
use provider::Provider;
use serde_json::{Value, json};
use vend::{
    Customer, Doubt, Enquiry, ListedState, NoStatement, Product, Quotation, RefusalReason, StatementRequest,
    SubscriberIdentifier, Unanswered,
};

use super::{Merchant, call, not_asked, order, order_for};
use crate::counter::{Does, Endpoint, error, network, success};

#[tokio::test]
async fn a_check_tells_the_limits_and_no_name() {
    let merchant = Merchant::open().await;
    let limit = |text| Some(Money::parse_wire(text).unwrap());
    let expected =
        Customer { name: None, barred: None, minimum: limit("BWP 5.00"), maximum: limit("BWP 500.00") };
    assert_eq!(merchant.checks().await, Ok(expected));
    assert_eq!(merchant.vendor.requests_to(Endpoint::Order), 0);
}

#[tokio::test]
async fn a_quote_has_neither_units_nor_a_split() {
    let merchant = Merchant::open().await;
    let nothing = Quotation { units: None, breakdown: None, subscriber_details: None };
    assert_eq!(merchant.quotes().await, Ok(nothing));
    merchant.vendor.will(Endpoint::Operator, [network(&json!({"localMinAmount": 20}))]);
    merchant.checks().await.unwrap();
    assert_eq!(merchant.quotes().await, Err(not_asked(RefusalReason::BelowMinimum)));
    let rand = merchant.provider.quote(call(41), &order_for("26771234567", "ZAR 30.00").sale).await;
    assert_eq!(rand, Err(not_asked(RefusalReason::Misconfigured)));
}

#[tokio::test]
async fn a_trial_is_refused_without_a_request_because_the_vendor_has_none() {
    let merchant = Merchant::open().await;
    let refused = merchant.provider.trial(call(41), &order().sale).await;
    assert_eq!(refused, Err(not_asked(RefusalReason::Misconfigured)));
    for endpoint in [Endpoint::Operator, Endpoint::Order] {
        assert_eq!(merchant.vendor.requests_to(endpoint), 0, "{endpoint:?}");
    }
}

#[tokio::test]
async fn an_unassigned_number_is_unknown() {
    let merchant = Merchant::open().await;
    merchant.vendor.will(Endpoint::Operator, [error(404, "COULD_NOT_AUTO_DETECT_OPERATOR")]);
    let Err(Unanswered::Refused(refusal)) = merchant.checks().await else { panic!("answered") };
    assert_eq!(refusal.reason, RefusalReason::UnknownSubscriber);
    let foreign = SubscriberIdentifier::parse("27821234567").unwrap();
    let unknown = Err(not_asked(RefusalReason::UnknownSubscriber));
    assert_eq!(merchant.provider.check(call(41), Product::Airtime, &foreign).await, unknown);
    assert_eq!(merchant.vendor.requests_to(Endpoint::Operator), 1);
    let meter = SubscriberIdentifier::parse("04257670465").unwrap();
    let wrong = Err(not_asked(RefusalReason::Misconfigured));
    assert_eq!(merchant.provider.check(call(41), Product::Electricity, &meter).await, wrong);
}

#[tokio::test]
async fn a_question_without_an_answer_says_so() {
    for (does, doubt) in [
        (Does::Closes, Doubt::ConnectionLost),
        (Does::Answers(200, "{".to_owned()), Doubt::Unreadable),
        (Does::Answers(302, String::new()), Doubt::Unreadable),
        (error(500, "X"), Doubt::UnlistedFault),
    ] {
        let merchant = Merchant::open().await;
        merchant.vendor.will(Endpoint::Operator, [does.clone(), does.clone()]);
        merchant.vendor.will(Endpoint::Report, [does.clone()]);
        assert_eq!(merchant.checks().await, Err(Unanswered::NoAnswer(doubt)), "{does:?}");
        assert_eq!(merchant.quotes().await, Err(Unanswered::NoAnswer(doubt)), "{does:?}");
        assert_eq!(merchant.enquires().await.doubt(), Some(doubt), "{does:?}");
        assert_eq!(merchant.vendor.requests_to(Endpoint::Operator), 2, "nothing is asked twice");
        assert_eq!(merchant.vendor.requests_to(Endpoint::Report), 1, "nothing is asked twice");
    }
}

#[tokio::test]
async fn a_silent_vendor_is_waited_for_no_longer_than_an_enquiry_may_take() {
    let merchant = Merchant::with(|settings| {
        settings.connect_timeout_ms = 300;
        settings.enquiry_timeout_ms = 300;
    })
    .await;
    merchant.vendor.will(Endpoint::Operator, [Does::IsSilent]);
    merchant.vendor.will(Endpoint::Report, [Does::IsSilent]);
    assert_eq!(merchant.checks().await, Err(Unanswered::NoAnswer(Doubt::TimedOut)));
    assert_eq!(merchant.enquires().await.doubt(), Some(Doubt::TimedOut));
}

#[tokio::test]
async fn an_enquiry_finds_what_was_sold_under_our_reference_and_sells_nothing() {
    let merchant = Merchant::open().await;
    assert_eq!(merchant.enquires().await, Enquiry::NoRecord);
    let asked = &merchant.vendor.saw()[1];
    let expected =
        "GET /reloadly/topups/topups/reports/transactions?customIdentifier=20261120093000-000042 HTTP/1.1";
    assert_eq!(asked.line, expected);
    merchant.vends().await;
    let Enquiry::Vended(vend) = merchant.enquires().await else { panic!("not found") };
    assert_eq!(vend.provider_transaction, "77120");
    assert_eq!(merchant.vendor.requests_to(Endpoint::Order), 1);
}

#[tokio::test]
async fn an_enquiry_tells_what_is_open_and_what_is_not_ours() {
    let merchant = Merchant::open().await;
    merchant.vends().await;
    let ordered = merchant.vendor.saw().into_iter().find(|seen| seen.endpoint == Endpoint::Order).unwrap();
    let row = |field: &str, value| {
        let mut row = success(&ordered.body);
        row[field] = value;
        row
    };
    let answers = |rows| Does::Answers(200, json!({"content": rows}).to_string());
    for (rows, expected) in [
        (json!([row("status", json!("PROCESSING"))]), ("still_open", "")),
        (json!([row("customIdentifier", json!("other"))]), ("unanswered", "mismatched")),
        (json!([success(&ordered.body), success(&ordered.body)]), ("unanswered", "mismatched")),
    ] {
        merchant.vendor.will(Endpoint::Report, [answers(rows)]);
        assert_eq!(merchant.enquires().await.in_words(), expected);
    }
    let mut foreign = order();
    foreign.sale.subscriber = SubscriberIdentifier::parse("27821234567").unwrap();
    let enquiry = merchant.provider.enquire(call(41), &foreign).await;
    assert_eq!(enquiry.doubt(), Some(Doubt::Mismatched));
}

#[tokio::test]
async fn a_page_of_the_statement_is_asked_for_in_the_vendors_time_and_read_whole_or_not_at_all() {
    let merchant = Merchant::open().await;
    let at = |hour| Utc.with_ymd_and_hms(2026, 11, 20, hour, 0, 0).unwrap();
    let asked = StatementRequest { from: at(0), until: at(12), page: NonZeroU32::new(3).unwrap() };
    let row = |change: Value| {
        let mut row = json!({
            "transactionId": 77120, "status": "SUCCESSFUL", "customIdentifier": "20261120093000-000042",
            "recipientPhone": "+26771234567", "requestedAmount": 10.5000, "requestedAmountCurrencyCode": "BWP",
            "deliveredAmount": 9.8, "deliveredAmountCurrencyCode": "BWP", "transactionDate": "2026-11-20 11:30:05"
        });
        row.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        row
    };
    let answers =
        |body: Value| merchant.vendor.will(Endpoint::Report, [Does::Answers(200, body.to_string())]);
    let refunded = row(json!({"transactionId": 77121, "status": "REFUNDED"}));
    let unheard = row(json!({"transactionId": 77122, "status": "ON_HOLD"}));
    answers(json!({"content": [row(json!({})), refunded, unheard], "totalElements": 403}));
    let page = merchant.provider.statement(&asked).await.unwrap();
    let line = &merchant.vendor.saw()[1].line;
    assert!(
        line.contains("?startDate=2026-11-20+02%3A00%3A00&endDate=2026-11-20+14%3A00%3A00&page=3&size=200 "),
        "{line}"
    );
    assert_eq!(page.orders_in_all, 403);
    let [Ok(vended), Ok(refunded), Err(unheard)] = page.orders.as_slice() else { panic!("{page:?}") };
    assert_eq!(vended.ordered_at, Utc.with_ymd_and_hms(2026, 11, 20, 9, 30, 5).unwrap());
    assert!(matches!(vended.state, ListedState::Vended(_)), "{vended:?}");
    assert_eq!((refunded.transaction.as_str(), &refunded.state), ("77121", &ListedState::NotVended));
    assert_eq!((unheard.transaction.as_deref(), unheard.field), (Some("77122"), "status"));

    answers(json!({"content": [row(json!({}))]}));
    let unreadable = NoStatement::Unanswered(Unanswered::NoAnswer(Doubt::Unreadable));
    assert_eq!(
        merchant.provider.statement(&asked).await,
        Err(unreadable),
        "without the number of all orders"
    );
    let without_zone = Merchant::with(|settings| settings.report_time_zone = None).await;
    let unset = NoStatement::SettingMissing("report_time_zone");
    assert_eq!(without_zone.provider.statement(&asked).await, Err(unset));
    assert_eq!(without_zone.vendor.requests_to(Endpoint::Report), 0);
    merchant.vendor.will(Endpoint::Report, [error(403, "FORBIDDEN")]);
    assert_eq!(
        merchant.provider.statement(&asked).await,
        Err(not_asked(RefusalReason::Misconfigured).into())
    );
    assert_eq!(merchant.vendor.requests_to(Endpoint::Order), 0);
}
