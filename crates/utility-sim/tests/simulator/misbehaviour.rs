//! Injected faults in replies.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::counter::{Counter, meter};

async fn counter_with(line: Value) -> Counter {
    let counter = Counter::open();
    assert_eq!(counter.script(line).await, 204);
    counter
}

#[tokio::test]
async fn a_reply_dropped_before_vending_leaves_nothing() {
    let counter = counter_with(json!({ "fault": "drop_before" })).await;
    let number = counter.fresh();
    assert!(counter.try_vend_as(number, meter("active_11_digit"), "50.00").await.is_err());
    assert_eq!(counter.vends(meter("active_11_digit")).await.len(), 0);
    assert_eq!(counter.enquire(number).await.fault().unwrap().0, "LastResponseEx");
    assert_eq!(counter.vend_as(number, meter("active_11_digit"), "50.00").await.status, 200);
}

#[tokio::test]
async fn whatever_goes_wrong_after_vending_the_advice_tells_the_truth() {
    for fault in [
        "drop_after",
        "garbage",
        "http_500_after",
        "system_ex_after",
        "truncated",
        "oversized",
        "wrong_meter",
        "wrong_amount",
        "wrong_currency",
        "wrong_reference",
        "no_token",
    ] {
        let counter = counter_with(json!({ "fault": fault })).await;
        let number = counter.fresh();
        let spoiled = counter.try_vend_as(number, meter("active_11_digit"), "100.00").await;
        let vends = counter.vends(meter("active_11_digit")).await;
        assert_eq!(vends.len(), 1, "{fault}");
        let advice = counter.enquire(number).await;
        assert_eq!(json!(advice.ciphers()), vends[0]["tokens"], "{fault}");
        match spoiled {
            Ok(answer) => {
                let own = |part: &str| advice.says(part) && answer.says(part);
                let truthful = own(r#"uniqueNumber="1""#)
                    && own("07000010012")
                    && own(r#"<r:tenderAmt value="100.00" symbol="BWP"/>"#)
                    && own("stsCipher");
                assert!(!truthful, "{fault}: {}", answer.text);
            }
            Err(_cut) => assert!(matches!(fault, "drop_after" | "truncated"), "{fault}"),
        }
    }
}

#[tokio::test]
async fn a_fault_is_used_up_and_goes_by_meter_and_operation() {
    let line =
        json!({ "fault": "busy", "subscriber": meter("active_11_digit"), "operation": "vend", "times": 2 });
    let counter = counter_with(line).await;
    let mut outcomes = Vec::new();
    for number in [
        meter("active_13_digit"),
        meter("active_11_digit"),
        meter("active_11_digit"),
        meter("active_11_digit"),
    ] {
        assert_eq!(counter.check(number).await.status, 200);
        outcomes.push(counter.vend(number, "50.00").await.status);
    }
    assert_eq!(outcomes, [200, 500, 500, 200]);
}

#[tokio::test]
async fn a_script_can_be_forgotten_and_a_wrong_one_is_not_taken() {
    let counter = counter_with(json!({ "fault": "busy", "times": 100 })).await;
    let url = format!("{}/faults", counter.simulator.url());
    assert_eq!(counter.http.delete(url).send().await.unwrap().status(), 204);
    assert_eq!(counter.vend(meter("active_11_digit"), "50.00").await.status, 200);
    assert_eq!(counter.script(json!({ "fault": "rain" })).await, 400);
    assert_eq!(counter.script(json!({ "fault": "busy", "subscribr": "1" })).await, 400);
}

#[tokio::test]
async fn any_exception_can_be_asked_for() {
    let counter =
        counter_with(json!({ "fault": "refuse", "exception": "LatestKRNEx", "text": "Update the key" }))
            .await;
    let refusal = counter.vend(meter("active_11_digit"), "50.00").await;
    assert_eq!(refusal.fault(), Some(("LatestKRNEx", "Update the key")));
    assert_eq!(counter.vends(meter("active_11_digit")).await[0]["outcome"], "refused");
}

#[tokio::test]
async fn questions_can_be_refused_and_dropped_as_well() {
    let counter =
        counter_with(json!({ "fault": "refuse", "exception": "SystemEx", "operation": "check" })).await;
    assert_eq!(counter.check(meter("active_11_digit")).await.fault().unwrap().0, "SystemEx");
    assert_eq!(counter.script(json!({ "fault": "busy", "operation": "any", "times": 2 })).await, 204);
    assert_eq!(counter.quote(meter("active_11_digit"), "50.00").await.status, 500);
    assert_eq!(counter.check(meter("active_11_digit")).await.status, 500);
    assert_eq!(counter.check(meter("active_11_digit")).await.status, 200);
}

#[tokio::test]
async fn a_fault_may_come_without_namespace_or_without_detail() {
    let counter = counter_with(json!({ "fault": "unprefixed_fault" })).await;
    let refusal = counter.vend(meter("blocked_customer"), "50.00").await;
    assert!(refusal.says("<XMLVendFaultResp xmlns:xsi="));
    assert!(refusal.says(r#"<fault xsi:type="BlockedMeterEx"><desc>Customer is blocked</desc></fault>"#));
    assert!(!refusal.says("serverID"));
    assert_eq!(counter.script(json!({ "fault": "fault_without_detail" })).await, 204);
    let bare = counter.vend(meter("active_11_digit"), "50.00").await;
    assert!(bare.says("<faultstring>Service busy, please try again</faultstring></soap:Fault>"));
}

#[tokio::test]
async fn an_enquiry_may_miss_what_is_there_and_find_it_later() {
    let counter =
        counter_with(json!({ "fault": "missing_then_present", "subscriber": meter("active_11_digit") }))
            .await;
    let number = counter.fresh();
    assert_eq!(counter.vend_as(number, meter("active_11_digit"), "50.00").await.status, 200);
    assert_eq!(counter.enquire(number).await.fault().unwrap().0, "LastResponseEx");
    assert_eq!(counter.enquire(number).await.status, 200);
}

#[tokio::test]
async fn two_replies_change_places() {
    let counter = counter_with(json!({ "fault": "swapped", "times": 2, "delay_ms": 10_000 })).await;
    let (first, second) = tokio::join!(
        counter.vend(meter("active_11_digit"), "50.00"),
        counter.vend(meter("active_13_digit"), "60.00")
    );
    assert!(first.says("0704000010022") && first.says(r#"tenderAmt value="60.00""#));
    assert!(second.says("07000010012") && second.says(r#"tenderAmt value="50.00""#));
}

#[tokio::test]
async fn a_request_that_waits_in_front_is_vended_after_its_sender_has_gone() {
    let counter = counter_with(json!({ "fault": "delay_before", "delay_ms": 300 })).await;
    let number = counter.fresh();
    let impatient = tokio::time::timeout(
        Duration::from_millis(100),
        counter.vend_as(number, meter("active_11_digit"), "50.00"),
    );
    assert!(impatient.await.is_err());
    assert_eq!(counter.enquire(number).await.fault().unwrap().0, "LastResponseEx");
    while counter.vends(meter("active_11_digit")).await.is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(counter.enquire(number).await.status, 200);
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the delay is real time")]
async fn a_delay_is_as_long_as_asked() {
    let counter = counter_with(json!({ "fault": "delay", "delay_ms": 200 })).await;
    let started = Instant::now();
    assert_eq!(counter.vend(meter("active_11_digit"), "50.00").await.status, 200);
    assert!(started.elapsed() >= Duration::from_millis(200));
}

#[tokio::test]
async fn elements_may_come_in_another_order() {
    let counter = counter_with(json!({ "fault": "out_of_order" })).await;
    let answer = counter.vend(meter("active_11_digit"), "50.00").await;
    let place = |part| answer.text.find(part).unwrap();
    assert!(place("<b:utility") < place("<b:clientStatus"));
    assert!(place("<r:tenderAmt") < place("<r:tx"));
}
