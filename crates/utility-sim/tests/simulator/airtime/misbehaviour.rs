//! Injected faults in answers about airtime.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::kiosk::{Kiosk, MASCOM, credentials, order, phone};

async fn kiosk_with(line: Value) -> Kiosk {
    let kiosk = Kiosk::open().await;
    kiosk.script(line).await;
    kiosk
}

#[tokio::test]
async fn a_request_dropped_before_vending_leaves_nothing() {
    let kiosk = kiosk_with(json!({ "fault": "drop_before" })).await;
    assert!(kiosk.post(&order("a-1", MASCOM, phone("active"), "10.00")).await.is_err());
    assert_eq!(kiosk.vends(phone("active")).await.len(), 0);
    assert!(kiosk.states("a-1").await.is_empty());
    assert_eq!(kiosk.buy("a-1", phone("active")).await.status, 200);
}

#[tokio::test]
async fn whatever_goes_wrong_after_vending_the_report_tells_the_truth() {
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
    ] {
        let kiosk = kiosk_with(json!({ "fault": fault })).await;
        let spoiled = kiosk.post(&order("a-1", MASCOM, phone("active"), "10.00")).await;
        let vends = kiosk.vends(phone("active")).await;
        assert_eq!((vends.len(), &vends[0]["outcome"]), (1, &json!("vended")), "{fault}");
        let page = kiosk.report("a-1").await;
        let truth = &page.body["content"][0];
        assert_eq!((&truth["status"], &truth["requestedAmount"]), (&json!("SUCCESSFUL"), &json!(10.0)));
        match spoiled {
            Ok(answer) => {
                let same = |field: &str| answer.body[field] == truth[field];
                let truthful = same("customIdentifier")
                    && same("recipientPhone")
                    && same("requestedAmount")
                    && same("requestedAmountCurrencyCode")
                    && same("status");
                assert!(!truthful, "{fault}: {}", answer.text);
            }
            Err(_cut) => assert!(matches!(fault, "drop_after" | "truncated"), "{fault}"),
        }
    }
}

#[tokio::test]
async fn a_fault_is_used_up_and_goes_by_number_and_operation() {
    let number = phone("active");
    let kiosk = kiosk_with(json!({ "fault": "busy", "subscriber": number, "times": 2 })).await;
    let mut outcomes = Vec::new();
    for number in ["26774000001", number, number, number] {
        let whose = format!("/operators/auto-detect/phone/{number}/countries/BW");
        assert_eq!(kiosk.get(&whose).await.status, 200);
        outcomes.push(kiosk.buy(&kiosk.fresh(), number).await.status);
    }
    assert_eq!(outcomes, [200, 400, 400, 200]);
}

#[tokio::test]
async fn a_script_can_be_forgotten() {
    let kiosk = kiosk_with(json!({ "fault": "busy", "times": 100 })).await;
    let url = format!("{}/faults", kiosk.simulator.url());
    assert_eq!(kiosk.http.delete(url).send().await.unwrap().status(), 204);
    assert_eq!(kiosk.buy("a-1", phone("active")).await.status, 200);
}

#[tokio::test]
async fn any_refusal_can_be_asked_for_and_is_on_record() {
    let line = json!({ "fault": "refuse", "exception": "PHONE_RECENTLY_RECHARGED", "text": "Wait" });
    let kiosk = kiosk_with(line).await;
    let refused = kiosk.buy("a-1", phone("active")).await;
    assert_eq!(refused.error(), (400, "PHONE_RECENTLY_RECHARGED"));
    assert_eq!(refused.body["message"], "Wait");
    assert_eq!(kiosk.vends(phone("active")).await[0]["outcome"], "refused");
    assert_eq!(kiosk.states("a-1").await, ["FAILED"]);
}

#[tokio::test]
async fn a_request_with_a_refused_token_has_no_effect() {
    let kiosk = kiosk_with(json!({ "fault": "refuse", "exception": "INVALID_TOKEN" })).await;
    assert_eq!(kiosk.buy("a-1", phone("active")).await.error(), (401, "INVALID_TOKEN"));
    assert_eq!(kiosk.vends(phone("active")).await.len(), 0);
    assert_eq!(kiosk.buy("a-1", phone("active")).await.status, 200);
}

#[tokio::test]
async fn an_error_may_come_without_its_code() {
    let kiosk = kiosk_with(json!({ "fault": "fault_without_detail" })).await;
    let refused = kiosk.buy("a-1", phone("invalid")).await;
    assert_eq!((refused.status, &refused.body["errorCode"]), (400, &Value::Null));
    assert_ne!(refused.body["message"], Value::Null);
}

#[tokio::test]
async fn questions_and_token_requests_can_go_wrong_as_well() {
    let mut kiosk = kiosk_with(json!({ "fault": "http_500_after", "operation": "check" })).await;
    let whose = format!("/operators/auto-detect/phone/{}/countries/BW", phone("active"));
    assert_eq!(kiosk.get(&whose).await.status, 500);
    assert_eq!(kiosk.get(&whose).await.status, 200);
    kiosk.script(json!({ "fault": "busy", "operation": "token" })).await;
    let refused = kiosk.ask_for_token(&credentials(&kiosk.simulator)).await;
    assert_eq!(refused.error(), (400, "OPERATOR_NOT_IN_SERVICE"));
    kiosk.log_in().await;
    assert_eq!(kiosk.get("/accounts/balance").await.status, 200);
}

#[tokio::test]
async fn an_enquiry_may_miss_what_is_there_and_find_it_later() {
    let number = phone("active");
    let line = json!({ "fault": "missing_then_present", "subscriber": number, "times": 2 });
    let kiosk = kiosk_with(line).await;
    let bought = kiosk.buy("a-1", number).await;
    let status = format!("/topups/{}/status", bought.body["transactionId"]);
    assert!(kiosk.states("a-1").await.is_empty());
    assert_eq!(kiosk.get(&status).await.error(), (404, "TRANSACTION_NOT_FOUND"));
    assert_eq!(kiosk.states("a-1").await, ["SUCCESSFUL"]);
    assert_eq!(kiosk.get(&status).await.status, 200);
}

#[tokio::test]
async fn a_top_up_under_way_may_end_in_any_way_and_only_a_delivery_costs_money() {
    for (fault, ending, logged) in [
        ("processing", "SUCCESSFUL", "vended"),
        ("processing_then_failed", "FAILED", "refused"),
        ("processing_then_refunded", "REFUNDED", "refused"),
    ] {
        let kiosk = kiosk_with(json!({ "fault": fault })).await;
        let before = kiosk.balance().await;
        assert_eq!(kiosk.buy("a-1", phone("active")).await.state(), (200, "PROCESSING"), "{fault}");
        kiosk.clock.advance(Duration::from_secs(30));
        assert_eq!(kiosk.states("a-1").await, [ending]);
        assert_eq!(kiosk.vends(phone("active")).await[0]["outcome"], logged);
        assert_eq!(kiosk.balance().await == before, logged == "refused", "{fault}");
    }
}

#[tokio::test]
async fn two_answers_change_places() {
    let kiosk = kiosk_with(json!({ "fault": "swapped", "times": 2, "delay_ms": 10_000 })).await;
    let (first, second) = tokio::join!(kiosk.buy("a-1", phone("active")), kiosk.buy("a-2", "26774000001"));
    assert_eq!(first.body["customIdentifier"], "a-2");
    assert_eq!(second.body["customIdentifier"], "a-1");
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the delay is real time")]
async fn a_delay_is_as_long_as_asked() {
    let kiosk = kiosk_with(json!({ "fault": "delay", "delay_ms": 200 })).await;
    let started = Instant::now();
    assert_eq!(kiosk.buy("a-1", phone("active")).await.status, 200);
    assert!(started.elapsed() >= Duration::from_millis(200));
}

#[tokio::test]
async fn a_request_that_waits_in_front_is_carried_out_after_its_sender_has_gone() {
    let kiosk = kiosk_with(json!({ "fault": "delay_before", "delay_ms": 300 })).await;
    let order = order("a-1", MASCOM, phone("active"), "10.00");
    let gave_up = tokio::time::timeout(Duration::from_millis(100), kiosk.post(&order)).await;
    assert!(gave_up.is_err());
    assert!(kiosk.states("a-1").await.is_empty());
    let carried_out = async {
        while kiosk.vends(phone("active")).await.is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), carried_out).await.unwrap();
    assert_eq!(kiosk.states("a-1").await, ["SUCCESSFUL"]);
}
