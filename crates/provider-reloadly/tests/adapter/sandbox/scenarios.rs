//! The adapter against the sandbox's phone numbers and the scripted faults of the aggregator.

use std::time::Duration;

use clock::{Clock, SystemClock};
use provider::Provider;
use serde_json::json;
use test_kit::simulator::{MISHAPS_AFTER_VENDING, open, sale};
use utility_sim::{AirtimeSettings, SimulatorSettings};
use vend::{
    Doubt, Enquiry, Product, Refusal, RefusalReason, SubscriberIdentifier, Unanswered, VendOrder, VendOutcome,
};

use super::env::{TestEnv, start_env};

const ACTIVE: &str = "26771000011";
const INVALID: &str = "26778000012";
const PROCESSING: &str = "26772000013";
const LOST_REPLY: &str = "26773000014";

fn open_env() -> TestEnv {
    let airtime = AirtimeSettings { processing_ms: 300, ..AirtimeSettings::default() };
    start_env(&SimulatorSettings { airtime, ..SimulatorSettings::default() })
}

async fn sell(env: &TestEnv, phone: &str) -> (VendOrder, VendOutcome) {
    let order = env.order_for(phone, "BWP 10.50");
    let outcome = env.provider.vend(&order, &open()).await;
    (order, outcome)
}

#[tokio::test]
async fn an_active_telephone_is_topped_up_once() {
    let env = open_env();
    let (order, outcome) = sell(&env, ACTIVE).await;
    let VendOutcome::Vended(vend) = outcome else { panic!("{outcome:?}") };
    assert_eq!((&vend.tokens, &vend.units, vend.breakdown), (&None, &None, None));
    let log = env.vends().await;
    assert_eq!(log.len(), 1);
    assert_eq!(log[0]["reference"], order.reference.to_string());
    assert_eq!(log[0]["subscriber"], ACTIVE);
    assert_eq!((&log[0]["amount"], &log[0]["currency"]), (&json!("10.50"), &json!("BWP")));
    let Enquiry::Vended(found) = env.provider.enquire(env.call(), &order).await else { panic!("not found") };
    assert_eq!(found.provider_transaction, vend.provider_transaction);
}

#[tokio::test]
async fn the_float_is_what_the_top_ups_have_left() {
    let airtime = AirtimeSettings { balance: "1000.00".to_owned(), ..AirtimeSettings::default() };
    let env = start_env(&SimulatorSettings { airtime, ..SimulatorSettings::default() });
    sell(&env, ACTIVE).await;
    let left = env.provider.float(env.call()).await.unwrap().unwrap();
    assert_eq!(left.to_string(), "BWP 989.50");
}

#[tokio::test]
async fn limits_come_with_the_check_and_bind_the_quote() {
    let env = open_env();
    let small = sale(Product::Airtime, ACTIVE, "BWP 10.50");
    let customer = env.provider.check(env.call(), small.product, &small.subscriber).await.unwrap();
    assert_eq!(customer.minimum.unwrap().to_string(), "BWP 1.00");
    assert_eq!(customer.maximum.unwrap().to_string(), "BWP 10000.00");
    assert!(env.provider.quote(env.call(), &small).await.is_ok());
    for (amount, reason) in
        [("BWP 0.99", RefusalReason::BelowMinimum), ("BWP 10000.01", RefusalReason::AboveMaximum)]
    {
        let quoted = env.provider.quote(env.call(), &sale(Product::Airtime, ACTIVE, amount)).await;
        assert_eq!(quoted, Err(Unanswered::Refused(Refusal::because(reason))));
        let outcome = env.provider.vend(&env.order_for(ACTIVE, amount), &open()).await;
        assert_eq!(outcome, VendOutcome::Refused(Refusal::because(reason)));
    }
    assert_eq!(env.vends().await.len(), 0);
}

#[tokio::test]
async fn an_invalid_phone_number_is_unknown_in_every_operation() {
    let env = open_env();
    let subscriber = SubscriberIdentifier::parse(INVALID).unwrap();
    let checked = env.provider.check(env.call(), Product::Airtime, &subscriber).await;
    let Err(Unanswered::Refused(refusal)) = checked else { panic!("{checked:?}") };
    assert_eq!(refusal.reason, RefusalReason::UnknownSubscriber);
    let (_order, outcome) = sell(&env, INVALID).await;
    let VendOutcome::Refused(refusal) = outcome else { panic!("{outcome:?}") };
    assert_eq!(refusal.reason, RefusalReason::UnknownSubscriber);
}

#[tokio::test]
async fn what_is_under_way_is_open_until_it_has_ended() {
    let env = open_env();
    let (order, outcome) = sell(&env, PROCESSING).await;
    assert_eq!(outcome.doubt(), Some(Doubt::StillOpen));
    assert_eq!(env.provider.enquire(env.call(), &order).await, Enquiry::StillOpen);
    assert!(matches!(env.settled(&order).await, Enquiry::Vended(_)));
    for fault in ["processing_then_failed", "processing_then_refunded"] {
        env.script(json!({"fault": fault})).await;
        let (order, outcome) = sell(&env, ACTIVE).await;
        assert_eq!(outcome.doubt(), Some(Doubt::StillOpen), "{fault}");
        let Enquiry::Refused(refusal) = env.settled(&order).await else { panic!("{fault}") };
        assert_eq!(refusal.reason, RefusalReason::Other, "{fault}");
    }
    assert_eq!(env.vends().await.len(), 1);
}

#[tokio::test]
async fn a_lost_reply_is_doubt_and_the_enquiry_finds_the_top_up() {
    let env = open_env();
    let (order, outcome) = sell(&env, LOST_REPLY).await;
    assert_eq!(outcome.doubt(), Some(Doubt::ConnectionLost));
    assert!(matches!(env.provider.enquire(env.call(), &order).await, Enquiry::Vended(_)));
    let again = env.provider.vend(&order, &open()).await;
    assert_eq!(again.doubt(), Some(Doubt::RepeatedReference));
    assert_eq!(env.vends().await.len(), 1);
}

#[tokio::test]
async fn a_report_that_lags_behind_shows_nothing_and_proves_nothing() {
    let airtime = AirtimeSettings { report_lag_ms: 300, ..AirtimeSettings::default() };
    let env = start_env(&SimulatorSettings { airtime, ..SimulatorSettings::default() });
    let (order, _lost) = sell(&env, LOST_REPLY).await;
    assert_eq!(env.provider.enquire(env.call(), &order).await, Enquiry::NoRecord);
    let started = SystemClock.monotonic();
    while env.provider.enquire(env.call(), &order).await == Enquiry::NoRecord {
        assert!(SystemClock.monotonic().elapsed_since(started) < Duration::from_secs(10));
    }
    assert!(matches!(env.provider.enquire(env.call(), &order).await, Enquiry::Vended(_)));
}

#[tokio::test]
async fn every_scripted_mishap_after_topping_up_is_doubt_and_the_enquiry_finds_it() {
    let env = open_env();
    for (fault, doubt) in MISHAPS_AFTER_VENDING {
        env.script(json!({"fault": fault})).await;
        let (order, outcome) = sell(&env, ACTIVE).await;
        assert_eq!(outcome.doubt(), Some(doubt), "{fault}");
        let found = env.provider.enquire(env.call(), &order).await;
        assert!(matches!(found, Enquiry::Vended(_)), "{fault}: {found:?}");
    }
    assert_eq!(env.vends().await.len(), MISHAPS_AFTER_VENDING.len());
}

#[tokio::test]
async fn refusals_are_what_the_table_says_and_an_error_without_a_code_is_doubt() {
    let env = open_env();
    for (code, reason) in [
        ("INSUFFICIENT_BALANCE", RefusalReason::FloatExhausted),
        ("PHONE_RECENTLY_RECHARGED", RefusalReason::DuplicateSale),
        ("INVALID_TOKEN", RefusalReason::Busy),
    ] {
        env.script(json!({"fault": "refuse", "exception": code, "text": "No\nway"})).await;
        let (_order, outcome) = sell(&env, ACTIVE).await;
        let refusal = Refusal { reason, wording: Some("No way".to_owned()) };
        assert_eq!(outcome, VendOutcome::Refused(refusal), "{code}");
    }
    env.script(json!({"fault": "busy"})).await;
    let (_order, outcome) = sell(&env, ACTIVE).await;
    assert!(matches!(outcome, VendOutcome::Refused(refusal) if refusal.reason == RefusalReason::Busy));
    for line in [
        json!({"fault": "refuse", "exception": "TOPUP_TRANSACTION_FAILED"}),
        json!({"fault": "fault_without_detail"}),
    ] {
        env.script(line.clone()).await;
        let (_order, outcome) = sell(&env, ACTIVE).await;
        assert_eq!(outcome.doubt(), Some(Doubt::UnlistedFault), "{line}");
    }
    assert_eq!(env.vends().await.len(), 0);
}

#[tokio::test]
async fn a_token_that_ends_is_renewed_and_nothing_is_sold_twice_for_it() {
    let airtime = AirtimeSettings { token_lifetime_s: 1, ..AirtimeSettings::default() };
    let env = start_env(&SimulatorSettings { airtime, ..SimulatorSettings::default() });
    let started = SystemClock.monotonic();
    let mut sold = 0;
    while SystemClock.monotonic().elapsed_since(started) < Duration::from_millis(1_500) {
        let (_order, outcome) = sell(&env, ACTIVE).await;
        assert!(matches!(outcome, VendOutcome::Vended(_)), "{outcome:?}");
        sold += 1;
    }
    assert_eq!(env.vends().await.len(), sold);
}
