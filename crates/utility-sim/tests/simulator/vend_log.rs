//! The log of vends, through the API and in its file.

use serde_json::{Value, json};

use crate::counter::{Counter, meter};

#[tokio::test]
async fn a_vend_is_logged_with_all_that_a_checker_needs() {
    let counter = Counter::open();
    let sale = counter.vend_as(42, meter("active_11_digit"), "100.00").await;
    let vends = counter.vends(meter("active_11_digit")).await;
    let expected = json!({
        "reference": "20261120073000-000042",
        "subscriber": meter("active_11_digit"),
        "product_type": "ELECTRICITY",
        "amount": "100.00",
        "currency": "BWP",
        "tokens": [sale.ciphers()[0]],
        "at": "2026-11-20T09:30:00+02:00",
        "outcome": "vended",
        "transaction": vends[0]["transaction"],
    });
    assert!(vends[0]["transaction"].as_str().unwrap().starts_with('R'), "{vends:?}");
    assert_eq!(vends, [expected]);
}

#[tokio::test]
async fn a_refused_vend_is_logged_without_tokens() {
    let counter = Counter::open();
    counter.vend(meter("debt_unpaid"), "50.00").await;
    let vends = counter.vends(meter("debt_unpaid")).await;
    assert_eq!((&vends[0]["outcome"], &vends[0]["tokens"]), (&json!("refused"), &json!([])));
}

#[tokio::test]
async fn without_a_subscriber_the_log_is_whole_and_in_order() {
    let counter = Counter::open();
    for name in ["active_11_digit", "active_13_digit", "active_11_digit"] {
        counter.vend(meter(name), "50.00").await;
    }
    let url = format!("{}/vends", counter.simulator.url());
    let text = counter.http.get(url).send().await.unwrap().text().await.unwrap();
    let references: Vec<Value> = serde_json::from_str::<Vec<Value>>(&text).unwrap();
    let references: Vec<&str> = references.iter().map(|vend| vend["reference"].as_str().unwrap()).collect();
    assert_eq!(references, ["20261120073000-000001", "20261120073000-000002", "20261120073000-000003"]);
}

#[tokio::test]
async fn a_line_is_in_the_file_before_the_answer_comes() {
    let file = std::env::temp_dir().join(format!("vend-log-{}.jsonl", std::process::id()));
    let counter = Counter::open_with(|settings| {
        settings.vend_log = Some(file.clone());
        settings.vend_log_fsync = true;
    });
    assert!(counter.try_vend_as(7, meter("lost_reply"), "50.00").await.is_err());
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    let mut line: Value = serde_json::from_str(text.trim_end()).unwrap();
    let answer = line.as_object_mut().unwrap().remove("answer");
    assert!(answer.unwrap()["reply"]["receipt"]["number"].is_string());
    assert_eq!(line, counter.vends(meter("lost_reply")).await[0]);
}
