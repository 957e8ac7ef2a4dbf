//! An integrator keeps its batches over HTTP. This environment has no worker, so no line is bought: tests with workers show how lines
//! end.

use std::sync::atomic::{AtomicBool, Ordering};

use clock::{Clock, SystemClock};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{env::env, merchant::Merchant, wire::Answer};

const BATCHES: &str = "/public/v1/batches";

/// A batch with lines for these meters.
pub fn batch(merchant: &Merchant, reference: &str, meters: &[String]) -> Value {
    let line = |meter: &String| {
        json!({
            "product_type": "ELECTRICITY", "provider_code": "BPC", "beneficiary_phone_number": "26771234567",
            "subscriber_identifier": meter, "amount": 50.25,
        })
    };
    json!({
        "reference": reference, "language": "en-BW", "debited_account_id": merchant.account, "currency": "BWP",
        "lines": meters.iter().map(line).collect::<Vec<_>>(),
    })
}

pub async fn create(merchant: &Merchant, body: &Value) -> Answer {
    merchant.post(&format!("{BATCHES}/create"), &body.to_string()).await
}

async fn call(merchant: &Merchant, id: i64, what: &str) -> Answer {
    merchant.post(&format!("{BATCHES}/{id}/{what}"), "").await
}

fn meters(count: usize) -> Vec<String> {
    (0..count).map(|_| env().meter()).collect()
}

async fn sends_table(merchant: &Merchant, query: &str, table: &str) -> Answer {
    let path = format!("{BATCHES}/create?{query}");
    merchant.send(Method::POST, &path, Some(table), &[("Content-Type", "text/csv")]).await
}

#[tokio::test]
async fn a_batch_is_made_read_paused_resumed_and_cancelled_without_money() {
    let merchant = env().open_merchant().await;
    let body = batch(&merchant, "salaries", &meters(3));
    let made = create(&merchant, &body).await.expect(200);
    assert_eq!((made.str("/status"), made.str("/amount")), ("RUNNING", "BWP 150.75"));
    assert_eq!(
        made.body["progress"][0],
        json!({"status": "WAITING", "lines": 3, "amount": "BWP 150.75", "amount_minor": 15_075})
    );
    assert_eq!(create(&merchant, &body).await.expect(200).body, made.body, "the same batch again");
    assert_eq!(merchant.get(&format!("{BATCHES}/{}", made.id())).await.expect(200).body, made.body);
    assert_eq!(merchant.get(BATCHES).await.expect(200).body["data"], json!([made.body]));

    for (what, status) in
        [("pause", "PAUSED"), ("pause", "PAUSED"), ("resume", "RUNNING"), ("cancel", "FINISHED")]
    {
        assert_eq!(call(&merchant, made.id(), what).await.expect(200).str("/status"), status, "{what}");
    }
    let refused = call(&merchant, made.id(), "resume").await;
    assert_eq!(refused.refusal(), (400, "invalid_argument", None));
    let lines = merchant.get(&format!("{BATCHES}/{}/lines?limit=2", made.id())).await.expect(200);
    assert_eq!(
        (lines.body["data"][0]["status"].as_str(), lines.str("/next_cursor")),
        (Some("CANCELLED"), "2")
    );
    assert_eq!(lines.body["data"][0]["external_reference"], "salaries/1");
    let table = merchant.get(&format!("{BATCHES}/{}/lines?format=csv&cursor=2", made.id())).await.expect(200);
    assert!(table.text.contains("\r\n3,CANCELLED,salaries/3,ELECTRICITY,BPC,"), "{}", table.text);
    let told = merchant.get("/public/v1/events?types=batch.finished").await.expect(200);
    assert_eq!(told.body["data"][0]["data"]["batch"]["cancelled"], 3, "{}", told.text);
    assert_eq!(merchant.rows(), "0|0|0|0|0", "no money moved");
}

#[tokio::test]
async fn every_wrong_line_is_reported_with_its_code_and_nothing_is_stored() {
    let merchant = env().open_merchant().await;
    let mut body = batch(&merchant, "salaries", &meters(5));
    body["lines"][0]["amount"] = json!(-5);
    body["lines"][2]["beneficiary_phone_number"] = json!("2677");
    let refused = create(&merchant, &body).await;
    assert_eq!(refused.refusal(), (400, "invalid_argument", Some("lines")));
    let report = |answer: &Answer| {
        let lines = answer.body["error"]["lines"].as_array().unwrap().iter();
        lines
            .map(|line| (line["line"].as_u64().unwrap(), line["code"].as_str().unwrap().to_owned()))
            .collect::<Vec<_>>()
    };
    let expected = [(1, "invalid_amount".to_owned()), (3, "invalid_msisdn".to_owned())];
    assert_eq!(report(&refused), expected);
    assert!(refused.sentence().starts_with("2 of 5 lines"), "{}", refused.text);

    let mut body = batch(&merchant, "salaries", &meters(3));
    body["lines"][1]["provider_code"] = json!("NOBODY");
    body["lines"][2]["subscriber_identifier"] = json!("09990000008");
    let refused = create(&merchant, &body).await;
    let expected = [(2, "invalid_argument".to_owned()), (3, "meter_not_allowed".to_owned())];
    assert_eq!(report(&refused), expected, "{}", refused.text);
    assert_eq!(merchant.get(BATCHES).await.expect(200).body["data"], json!([]));
}

#[tokio::test]
async fn a_reference_is_used_once_and_too_many_open_batches_are_refused() {
    let merchant = env().open_merchant().await;
    for number in 0..20 {
        create(&merchant, &batch(&merchant, &format!("batch-{number}"), &meters(1))).await.expect(200);
    }
    let refused = create(&merchant, &batch(&merchant, "batch-20", &meters(1))).await;
    assert_eq!(refused.refusal(), (400, "invalid_argument", None));
    let again = create(&merchant, &batch(&merchant, "batch-0", &meters(1))).await;
    assert_eq!(again.refusal(), (400, "invalid_argument", Some("reference")));
    let page = merchant.get(&format!("{BATCHES}?limit=15")).await.expect(200);
    let rest =
        merchant.get(&format!("{BATCHES}?limit=15&cursor={}", page.str("/next_cursor"))).await.expect(200);
    assert_eq!(rest.body["data"].as_array().unwrap().len(), 5);
}

#[tokio::test]
async fn a_table_is_the_same_batch_as_its_json() {
    let merchant = env().open_merchant().await;
    let meters = meters(2);
    let made = create(&merchant, &batch(&merchant, "salaries", &meters)).await.expect(200);
    let rows = meters.iter().map(|meter| format!("{meter},50.25,ELECTRICITY,BPC,26771234567\r\n"));
    let table = format!(
        "subscriber_identifier,amount,product_type,provider_code,beneficiary_phone_number\r\n{}",
        rows.collect::<String>()
    );
    let query =
        format!("reference=salaries&language=en-BW&debited_account_id={}&currency=BWP", merchant.account);
    assert_eq!(sends_table(&merchant, &query, &table).await.expect(200).body, made.body);
    let refused = sends_table(&merchant, &query, "colour\r\nred\r\n").await;
    assert_eq!(refused.refusal(), (400, "invalid_argument", Some("colour")));
    let beside_json = merchant.post(&format!("{BATCHES}/create?{query}"), "{}").await;
    assert_eq!(beside_json.refusal(), (400, "invalid_argument", Some("query")));
}

#[tokio::test]
async fn a_large_batch_is_taken_and_a_larger_one_is_refused_by_its_size() {
    let merchant = env().open_merchant().await;
    let meter = vec![env().meter()];
    let mut body = batch(&merchant, "large", &meter);
    let line = body["lines"][0].clone();
    body["lines"] = Value::Array(vec![line.clone(); 5_000]);
    assert_eq!(create(&merchant, &body).await.expect(200).body["lines"], 5_000);
    body["lines"] = Value::Array(vec![line; 5_001]);
    assert_eq!(create(&merchant, &body).await.refusal(), (400, "invalid_argument", Some("lines")));
    let endless = format!("{{\"comment\":\"{}\"}}", "x".repeat(4 * 1024 * 1024));
    let refused = merchant.post(&format!("{BATCHES}/create"), &endless).await;
    assert_eq!(refused.refusal(), (400, "invalid_argument", None));
    let elsewhere = merchant.post("/public/v1/purchases/confirm", &"x".repeat(20 * 1024)).await;
    assert_eq!(elsewhere.refusal(), (400, "invalid_argument", None), "other bodies stay small");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_batch_does_not_hold_up_the_other_requests_of_a_server_with_one_thread() {
    let server = env().another_api_server_with("server-of-batches", &[("VENDGATE__HTTP__WORKERS", "1")]);
    let merchant = env().open_merchant().await.calling(server.url());
    let mut body = batch(&merchant, "large", &meters(1));
    body["lines"] = Value::Array(vec![body["lines"][0].clone(); 5_000]);
    // The last line is refused after all others were read and checked, so nothing is stored.
    body["lines"][4_999]["provider_code"] = json!("NOBODY");
    let is_read = AtomicBool::new(false);
    let began = SystemClock.monotonic();
    let since = |began| SystemClock.monotonic().elapsed_since(began);
    let reading = async {
        let refused = create(&merchant, &body).await;
        is_read.store(true, Ordering::SeqCst);
        (refused, since(began))
    };
    let others = async {
        let mut waited = Vec::new();
        while !is_read.load(Ordering::SeqCst) {
            let asked = SystemClock.monotonic();
            merchant.get("/public/v1/accounts").await.expect(200);
            waited.push(since(asked));
        }
        waited
    };
    let ((refused, took), waited) = tokio::join!(reading, others);
    assert_eq!(refused.refusal(), (400, "invalid_argument", Some("lines")));
    let longest = waited.iter().max().unwrap();
    println!(
        "the batch took {took:?}; meanwhile {} others were answered, the slowest after {longest:?}",
        waited.len()
    );
    assert!(*longest * 2 < took, "one waited {longest:?} of {took:?}");
}

#[tokio::test]
async fn no_integrator_can_use_the_key_of_a_line() {
    let merchant = env().open_merchant().await;
    let key = [("Idempotency-Key", "vendgate:batch:1:1")];
    let order = merchant.order(&env().meter()).body();
    let refused = merchant.send(Method::POST, "/public/v1/purchases/confirm", Some(&order), &key).await;
    assert_eq!(refused.refusal(), (400, "invalid_argument", Some("idempotency_key")));
}
