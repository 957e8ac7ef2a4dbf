//! The sandbox's telephones and the aggregator's misbehaviour, as the adapter sees them.

use std::time::Duration;

use clock::{Clock, SystemClock};
use provider::Provider;
use serde_json::json;
use utility_sim::{AirtimeSettings, SimulatorSettings};
use vend::{
    Doubt, Enquiry, Product, Refusal, RefusalReason, SubscriberIdentifier, Unanswered, VendOrder, VendOutcome,
};

use crate::town::{Town, open, sale_for};

const ACTIVE: &str = "26771000011";
const INVALID: &str = "26778000012";
const PROCESSING: &str = "26772000013";
const LOST_REPLY: &str = "26773000014";

fn open_town() -> Town {
    let airtime = AirtimeSettings { processing_ms: 300, ..AirtimeSettings::default() };
    Town::open(&SimulatorSettings { airtime, ..SimulatorSettings::default() })
}

async fn sell(town: &Town, phone: &str) -> (VendOrder, VendOutcome) {
    let order = town.order_for(phone, "BWP 10.50");
    let outcome = town.provider.vend(&order, &open()).await;
    (order, outcome)
}

/// Asks until it is no longer open.
async fn settled(town: &Town, order: &VendOrder) -> Enquiry {
    let started = SystemClock.monotonic();
    loop {
        let enquiry = town.provider.enquire(town.call(), order).await;
        if enquiry != Enquiry::StillOpen {
            return enquiry;
        }
        let waited = SystemClock.monotonic().elapsed_since(started);
        assert!(waited < Duration::from_secs(10), "still open after {waited:?}");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn an_active_telephone_is_topped_up_once() {
    let town = open_town();
    let (order, outcome) = sell(&town, ACTIVE).await;
    let VendOutcome::Vended(vend) = outcome else { panic!("{outcome:?}") };
    assert_eq!((&vend.tokens, &vend.units, vend.breakdown), (&None, &None, None));
    let log = town.vends().await;
    assert_eq!(log.len(), 1);
    assert_eq!(log[0]["reference"], order.reference.to_string());
    assert_eq!(log[0]["subscriber"], ACTIVE);
    assert_eq!((&log[0]["amount"], &log[0]["currency"]), (&json!("10.50"), &json!("BWP")));
    let Enquiry::Vended(found) = town.provider.enquire(town.call(), &order).await else {
        panic!("not found")
    };
    assert_eq!(found.provider_transaction, vend.provider_transaction);
}

#[tokio::test]
async fn limits_come_with_the_check_and_bind_the_quote() {
    let town = open_town();
    let sale = sale_for(ACTIVE, "BWP 10.50");
    let customer = town.provider.check(town.call(), sale.product, &sale.subscriber).await.unwrap();
    assert_eq!(customer.minimum.unwrap().to_string(), "BWP 1.00");
    assert_eq!(customer.maximum.unwrap().to_string(), "BWP 10000.00");
    assert!(town.provider.quote(town.call(), &sale).await.is_ok());
    for (amount, reason) in
        [("BWP 0.99", RefusalReason::BelowMinimum), ("BWP 10000.01", RefusalReason::AboveMaximum)]
    {
        let quoted = town.provider.quote(town.call(), &sale_for(ACTIVE, amount)).await;
        assert_eq!(quoted, Err(Unanswered::Refused(Refusal::because(reason))));
        let outcome = town.provider.vend(&town.order_for(ACTIVE, amount), &open()).await;
        assert_eq!(outcome, VendOutcome::Refused(Refusal::because(reason)));
    }
    assert_eq!(town.vends().await.len(), 0);
}

#[tokio::test]
async fn an_invalid_telephone_is_unknown_at_every_door() {
    let town = open_town();
    let subscriber = SubscriberIdentifier::parse(INVALID).unwrap();
    let checked = town.provider.check(town.call(), Product::Airtime, &subscriber).await;
    let Err(Unanswered::Refused(refusal)) = checked else { panic!("{checked:?}") };
    assert_eq!(refusal.reason, RefusalReason::UnknownSubscriber);
    let (_order, outcome) = sell(&town, INVALID).await;
    let VendOutcome::Refused(refusal) = outcome else { panic!("{outcome:?}") };
    assert_eq!(refusal.reason, RefusalReason::UnknownSubscriber);
}

#[tokio::test]
async fn what_is_under_way_is_open_until_it_has_ended() {
    let town = open_town();
    let (order, outcome) = sell(&town, PROCESSING).await;
    assert_eq!(outcome.doubt(), Some(Doubt::StillOpen));
    assert_eq!(town.provider.enquire(town.call(), &order).await, Enquiry::StillOpen);
    assert!(matches!(settled(&town, &order).await, Enquiry::Vended(_)));
    for fault in ["processing_then_failed", "processing_then_refunded"] {
        town.script(json!({"fault": fault})).await;
        let (order, outcome) = sell(&town, ACTIVE).await;
        assert_eq!(outcome.doubt(), Some(Doubt::StillOpen), "{fault}");
        let Enquiry::Refused(refusal) = settled(&town, &order).await else { panic!("{fault}") };
        assert_eq!(refusal.reason, RefusalReason::Other, "{fault}");
    }
    assert_eq!(town.vends().await.len(), 1);
}

#[tokio::test]
async fn a_lost_reply_is_doubt_and_the_enquiry_finds_the_top_up() {
    let town = open_town();
    let (order, outcome) = sell(&town, LOST_REPLY).await;
    assert_eq!(outcome.doubt(), Some(Doubt::ConnectionLost));
    assert!(matches!(town.provider.enquire(town.call(), &order).await, Enquiry::Vended(_)));
    let again = town.provider.vend(&order, &open()).await;
    assert_eq!(again.doubt(), Some(Doubt::RepeatedReference));
    assert_eq!(town.vends().await.len(), 1);
}

#[tokio::test]
async fn a_report_that_lags_behind_shows_nothing_and_proves_nothing() {
    let airtime = AirtimeSettings { report_lag_ms: 300, ..AirtimeSettings::default() };
    let town = Town::open(&SimulatorSettings { airtime, ..SimulatorSettings::default() });
    let (order, _lost) = sell(&town, LOST_REPLY).await;
    assert_eq!(town.provider.enquire(town.call(), &order).await, Enquiry::NoRecord);
    let started = SystemClock.monotonic();
    while town.provider.enquire(town.call(), &order).await == Enquiry::NoRecord {
        assert!(SystemClock.monotonic().elapsed_since(started) < Duration::from_secs(10));
    }
    assert!(matches!(town.provider.enquire(town.call(), &order).await, Enquiry::Vended(_)));
}

#[tokio::test]
async fn every_scripted_mishap_after_topping_up_is_doubt_and_the_enquiry_finds_it() {
    let town = open_town();
    for (fault, doubt) in [
        ("drop_after", Doubt::ConnectionLost),
        ("truncated", Doubt::ConnectionLost),
        ("garbage", Doubt::Unreadable),
        ("oversized", Doubt::Unreadable),
        ("http_500_after", Doubt::Unreadable),
        ("system_ex_after", Doubt::UnlistedFault),
        ("wrong_meter", Doubt::Mismatched),
        ("wrong_amount", Doubt::Mismatched),
        ("wrong_currency", Doubt::Mismatched),
        ("wrong_reference", Doubt::Mismatched),
    ] {
        town.script(json!({"fault": fault})).await;
        let (order, outcome) = sell(&town, ACTIVE).await;
        assert_eq!(outcome.doubt(), Some(doubt), "{fault}");
        let found = town.provider.enquire(town.call(), &order).await;
        assert!(matches!(found, Enquiry::Vended(_)), "{fault}: {found:?}");
    }
    assert_eq!(town.vends().await.len(), 10);
}

#[tokio::test]
async fn refusals_are_what_the_table_says_and_an_error_without_a_code_is_doubt() {
    let town = open_town();
    for (code, reason) in [
        ("INSUFFICIENT_BALANCE", RefusalReason::FloatExhausted),
        ("PHONE_RECENTLY_RECHARGED", RefusalReason::DuplicateSale),
        ("INVALID_TOKEN", RefusalReason::Busy),
    ] {
        town.script(json!({"fault": "refuse", "exception": code, "text": "No\nway"})).await;
        let (_order, outcome) = sell(&town, ACTIVE).await;
        let refusal = Refusal { reason, wording: Some("No way".to_owned()) };
        assert_eq!(outcome, VendOutcome::Refused(refusal), "{code}");
    }
    town.script(json!({"fault": "busy"})).await;
    let (_order, outcome) = sell(&town, ACTIVE).await;
    assert!(matches!(outcome, VendOutcome::Refused(refusal) if refusal.reason == RefusalReason::Busy));
    for line in [
        json!({"fault": "refuse", "exception": "TOPUP_TRANSACTION_FAILED"}),
        json!({"fault": "fault_without_detail"}),
    ] {
        town.script(line.clone()).await;
        let (_order, outcome) = sell(&town, ACTIVE).await;
        assert_eq!(outcome.doubt(), Some(Doubt::UnlistedFault), "{line}");
    }
    assert_eq!(town.vends().await.len(), 0);
}

#[tokio::test]
async fn a_token_that_ends_is_renewed_and_nothing_is_sold_twice_for_it() {
    let airtime = AirtimeSettings { token_lifetime_s: 1, ..AirtimeSettings::default() };
    let town = Town::open(&SimulatorSettings { airtime, ..SimulatorSettings::default() });
    let started = SystemClock.monotonic();
    let mut sold = 0;
    while SystemClock.monotonic().elapsed_since(started) < Duration::from_millis(1_500) {
        let (_order, outcome) = sell(&town, ACTIVE).await;
        assert!(matches!(outcome, VendOutcome::Vended(_)), "{outcome:?}");
        sold += 1;
    }
    assert_eq!(town.vends().await.len(), sold);
}
