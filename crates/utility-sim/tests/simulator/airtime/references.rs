//! Custom identifiers: used once, remembered, and valid for enquiries.

use std::time::Duration;

use serde_json::json;
use utility_sim::{OnRepeat, Remembers};

use super::kiosk::{Answer, Kiosk, MASCOM, order, phone};

const DUPLICATE: (u16, &str) = (400, "CUSTOM_IDENTIFIER_ALREADY_USED");

#[tokio::test]
async fn a_repeated_identifier_is_rejected_for_ever_and_tops_up_nothing() {
    let kiosk = Kiosk::open_with(|settings| settings.airtime.token_lifetime_s = u64::MAX).await;
    let number = phone("active");
    assert_eq!(kiosk.buy("a-1", number).await.status, 200);
    assert_eq!(kiosk.buy("a-1", number).await.error(), DUPLICATE);
    assert_eq!(kiosk.post(&order("a-1", MASCOM, "26774000001", "5.00")).await.unwrap().error(), DUPLICATE);
    kiosk.clock.advance(Duration::from_hours(24 * 365));
    assert_eq!(kiosk.buy("a-1", number).await.error(), DUPLICATE);
    assert_eq!(kiosk.vends(number).await.len(), 1);
    assert_eq!(kiosk.vends("26774000001").await.len(), 0);
}

#[tokio::test]
async fn the_report_and_the_status_tell_what_the_answer_told() {
    let kiosk = Kiosk::open().await;
    let bought = kiosk.buy("a-1", phone("active")).await;
    let page = kiosk.report("a-1").await;
    assert_eq!((&page.body["totalElements"], &page.body["empty"]), (&json!(1), &json!(false)));
    let mut expected = bought.body.clone();
    expected.as_object_mut().unwrap().remove("balanceInfo");
    assert_eq!(page.body["content"], json!([expected]));
    let status = kiosk.get(&format!("/topups/{}/status", bought.body["transactionId"])).await;
    let expected = json!({ "code": null, "message": null, "status": "SUCCESSFUL", "transaction": expected });
    assert_eq!(status.body, expected);
}

#[tokio::test]
async fn an_unknown_top_up_is_not_found() {
    let kiosk = Kiosk::open().await;
    let page = kiosk.report("a-1").await;
    assert_eq!((page.status, &page.body["content"], &page.body["empty"]), (200, &json!([]), &json!(true)));
    for number in ["1", "none"] {
        assert_eq!(kiosk.get(&format!("/topups/{number}/status")).await.status, 404);
    }
}

#[tokio::test]
async fn the_report_lags_behind_the_sale_and_the_status_does_not() {
    let kiosk = Kiosk::open_with(|settings| settings.airtime.report_lag_ms = 5_000).await;
    let bought = kiosk.buy("a-1", phone("active")).await;
    assert!(kiosk.states("a-1").await.is_empty());
    kiosk.clock.advance(Duration::from_millis(4_999));
    assert!(kiosk.states("a-1").await.is_empty());
    let status = kiosk.get(&format!("/topups/{}/status", bought.body["transactionId"])).await;
    assert_eq!(status.state(), (200, "SUCCESSFUL"));
    kiosk.clock.advance(Duration::from_millis(1));
    assert_eq!(kiosk.states("a-1").await, ["SUCCESSFUL"]);
}

#[tokio::test]
async fn a_refusal_is_remembered_too() {
    let kiosk = Kiosk::open().await;
    assert_eq!(kiosk.buy("a-1", phone("invalid")).await.error(), (400, "INVALID_RECIPIENT_PHONE"));
    assert_eq!(kiosk.buy("a-1", phone("active")).await.error(), DUPLICATE);
    let page = kiosk.report("a-1").await;
    let [failed] = &page.body["content"].as_array().unwrap()[..] else { panic!("{}", page.text) };
    let why = (&failed["status"], &failed["errorCode"]);
    assert_eq!(why, (&json!("FAILED"), &json!("INVALID_RECIPIENT_PHONE")));
    let status = kiosk.get(&format!("/topups/{}/status", failed["transactionId"])).await;
    let why = (&status.body["status"], &status.body["code"]);
    assert_eq!(why, (&json!("FAILED"), &json!("INVALID_RECIPIENT_PHONE")));
    assert_eq!(kiosk.vends(phone("active")).await.len(), 0);
}

#[tokio::test]
async fn an_aggregator_that_remembers_vends_only_forgets_refusals() {
    let kiosk = Kiosk::open_with(|settings| settings.remembers = Remembers::Vends).await;
    assert_eq!(kiosk.buy("a-1", phone("invalid")).await.status, 400);
    assert!(kiosk.states("a-1").await.is_empty());
    assert_eq!(kiosk.buy("a-1", phone("active")).await.status, 200);
    assert_eq!(kiosk.buy("a-1", phone("active")).await.error(), DUPLICATE);
}

#[tokio::test]
async fn an_aggregator_that_replays_sends_the_same_answer_again() {
    let kiosk = Kiosk::open_with(|settings| settings.on_repeat = OnRepeat::Replay).await;
    let [first, second] = twice(&kiosk).await;
    assert_eq!((first.status, &first.text), (200, &second.text));
    assert_eq!(kiosk.vends(phone("active")).await.len(), 1);
}

#[tokio::test]
async fn a_forgetful_aggregator_and_a_careless_one_top_up_twice() {
    for kiosk in [
        Kiosk::open_with(|settings| settings.remembers = Remembers::Nothing).await,
        Kiosk::open_with(|settings| settings.on_repeat = OnRepeat::VendAgain).await,
    ] {
        let [first, second] = twice(&kiosk).await;
        assert_ne!(first.body["transactionId"], second.body["transactionId"]);
        assert_eq!(kiosk.vends(phone("active")).await.len(), 2);
    }
}

async fn twice(kiosk: &Kiosk) -> [Answer; 2] {
    [kiosk.buy("a-1", phone("active")).await, kiosk.buy("a-1", phone("active")).await]
}

#[tokio::test]
async fn of_three_requests_under_one_identifier_at_once_one_tops_up() {
    let kiosk = Kiosk::open_with(|settings| settings.workers = 2).await;
    for _round in 0..10 {
        let identifier = kiosk.fresh();
        let buy = || kiosk.buy(&identifier, phone("active"));
        let (first, second, third) = tokio::join!(buy(), buy(), buy());
        let mut statuses = [first.status, second.status, third.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 400, 400]);
    }
    assert_eq!(kiosk.vends(phone("active")).await.len(), 10);
}

#[tokio::test]
async fn the_whole_report_comes_in_pages_in_the_order_of_sale() {
    let kiosk = Kiosk::open().await;
    for identifier in ["c", "a", "b"] {
        kiosk.buy(identifier, phone("active")).await;
    }
    let first = kiosk.get("/topups/reports/transactions?size=2").await;
    assert_eq!((identifiers(&first), &first.body["last"]), (vec!["c", "a"], &json!(false)));
    let second = kiosk.get("/topups/reports/transactions?size=2&page=2").await;
    assert_eq!((identifiers(&second), &second.body["last"]), (vec!["b"], &json!(true)));
    assert_eq!((&second.body["totalElements"], &second.body["totalPages"]), (&json!(3), &json!(2)));
}

fn identifiers(page: &Answer) -> Vec<&str> {
    let content = page.body["content"].as_array().unwrap();
    content.iter().map(|topup| topup["customIdentifier"].as_str().unwrap()).collect()
}
