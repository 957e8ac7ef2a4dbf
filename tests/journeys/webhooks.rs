//! An integrator keeps its webhook endpoints over HTTP.

use serde_json::{Value, json};

use crate::{env::env, merchant::Merchant, wire::Answer};

const ENDPOINTS: &str = "/public/v1/webhook-endpoints";
const URL: &str = "https://till.example/hooks/s3cret?shop=7";

pub async fn create(merchant: &Merchant, body: &Value) -> Answer {
    merchant.post(&format!("{ENDPOINTS}/create"), &body.to_string()).await
}

async fn call(merchant: &Merchant, id: i64, what: &str, body: &Value) -> Answer {
    merchant.post(&format!("{ENDPOINTS}/{id}/{what}"), &body.to_string()).await
}

async fn read(merchant: &Merchant, id: i64) -> Answer {
    merchant.get(&format!("{ENDPOINTS}/{id}")).await
}

#[tokio::test]
async fn an_endpoint_is_created_changed_paused_resumed_and_deleted() {
    let merchant = env().open_merchant().await;
    let created = create(&merchant, &json!({"url": URL, "description": "The till"})).await.expect(200);
    let id = created.id();
    let mut without_secret = created.body.clone();
    without_secret.as_object_mut().unwrap().remove("secret").unwrap();
    assert_eq!(read(&merchant, id).await.expect(200).body, without_secret);
    assert_eq!(merchant.get(ENDPOINTS).await.expect(200).body, json!([without_secret]));
    for (field, value) in [
        ("url", json!(URL)),
        ("description", json!("The till")),
        ("event_types", json!([])),
        ("include_tokens", json!(false)),
        ("status", json!("ACTIVE")),
        ("switched_off_because", Value::Null),
    ] {
        assert_eq!(created.body[field], value, "{field}");
    }

    let types = json!(["purchase.failed", "purchase.succeeded", "purchase.failed"]);
    let change = json!({"event_types": types, "include_tokens": true, "description": ""});
    let changed = call(&merchant, id, "update", &change).await.expect(200).body;
    assert_eq!(changed["event_types"], json!(["purchase.succeeded", "purchase.failed"]));
    assert_eq!((&changed["include_tokens"], &changed["description"]), (&json!(true), &Value::Null));
    assert_eq!((&changed["url"], &changed["status_since"]), (&json!(URL), &created.body["status_since"]));

    for status in ["PAUSED", "ACTIVE"] {
        let set = call(&merchant, id, "update", &json!({"status": status})).await.expect(200).body;
        assert_eq!((&set["status"], &set["include_tokens"]), (&json!(status), &json!(true)));
        assert_ne!(set["status_since"], created.body["status_since"]);
    }

    let deleted = call(&merchant, id, "delete", &json!({})).await.expect(200).body;
    assert_eq!(deleted, json!({"id": id, "status": "DELETED"}));
    assert_eq!(read(&merchant, id).await.refusal(), (404, "resource_not_found", None));
    assert_eq!(call(&merchant, id, "delete", &json!({})).await.status, 404);
    assert_eq!(merchant.get(ENDPOINTS).await.expect(200).body, json!([]));
}

#[tokio::test]
async fn a_secret_is_told_once_is_sealed_and_ends_when_it_is_rotated() {
    let merchant = env().open_merchant().await;
    let created = create(&merchant, &json!({"url": URL})).await.expect(200);
    let (id, first) = (created.id(), created.str("/secret").to_owned());
    assert!(first.starts_with("whsec_"), "{first}");
    assert!(!read(&merchant, id).await.text.contains("whsec_"));
    let sealed = env().asks_the_database(&format!(
        "SELECT count(*) FROM webhook_keys WHERE endpoint_id = {id} AND octet_length(sealed) = 12 + 64 + 16 AND position(
             decode('{}', 'base64') IN sealed) = 0",
        first.trim_start_matches("whsec_")
    ));
    assert_eq!(sealed.trim(), "1");

    let rotated = call(&merchant, id, "rotate-secret", &json!({})).await.expect(200);
    assert_ne!(rotated.str("/secret"), first);
    let both = rotated.body["public_keys"].as_array().unwrap();
    assert_eq!(both.len(), 2);
    assert_eq!(both[1], created.body["public_keys"][0]);

    let again = call(&merchant, id, "rotate-secret", &json!({"overlap_hours": 0})).await.expect(200);
    assert_eq!(again.body["public_keys"].as_array().unwrap().len(), 1, "no key signs for longer than it may");
}

#[tokio::test]
async fn an_endpoint_that_must_not_be_called_is_refused_and_nothing_is_kept() {
    let merchant = env().open_merchant().await;
    for url in [
        "http://10.0.0.1/",
        "https://169.254.169.254/",
        "https://[::ffff:10.0.0.1]/",
        "https://user@till.example/",
        "ftp://till.example/",
    ] {
        let refused = create(&merchant, &json!({"url": url})).await;
        assert_eq!(refused.refusal(), (400, "invalid_argument", Some("url")), "{url}");
    }
    for (field, value) in [
        ("event_types", json!("purchase.failed")),
        ("event_types", json!(["purchase.stolen"])),
        ("event_types", json!([1])),
        ("include_tokens", json!("yes")),
        ("description", json!("x".repeat(201))),
    ] {
        let refused = create(&merchant, &json!({"url": URL, field: value})).await;
        assert_eq!(refused.refusal(), (400, "invalid_argument", Some(field)), "{}", refused.text);
    }
    assert_eq!(create(&merchant, &json!({})).await.refusal(), (400, "missing_field", Some("url")));
    assert_eq!(merchant.get(ENDPOINTS).await.expect(200).body, json!([]));

    let id = create(&merchant, &json!({"url": URL})).await.expect(200).id();
    for (what, body, field) in [
        ("update", json!({"url": "https://10.0.0.1/"}), "url"),
        ("update", json!({"status": "DELETED"}), "status"),
        ("rotate-secret", json!({"overlap_hours": 169}), "overlap_hours"),
        ("rotate-secret", json!({"overlap_hours": -1}), "overlap_hours"),
    ] {
        let refused = call(&merchant, id, what, &body).await;
        assert_eq!(refused.refusal(), (400, "invalid_argument", Some(field)), "{}", refused.text);
    }
    assert_eq!(read(&merchant, id).await.expect(200).body["url"], URL);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_organisation_has_at_most_ten_endpoints_even_if_it_asks_at_once() {
    let merchant = env().open_merchant().await;
    let wanted = json!({"url": URL});
    let asked = (0..12).map(|_| create(&merchant, &wanted));
    let answers = futures_util::future::join_all(asked).await;
    let refused: Vec<&Answer> = answers.iter().filter(|answer| answer.status != 200).collect();
    assert_eq!(refused.len(), 2, "{answers:?}");
    for answer in refused {
        assert_eq!(answer.refusal(), (400, "invalid_argument", None), "{}", answer.text);
        assert!(answer.str("/error/message").contains("10"), "{}", answer.text);
    }
    let first = merchant.get(ENDPOINTS).await.expect(200).body[0]["id"].as_i64().unwrap();
    call(&merchant, first, "delete", &json!({})).await.expect(200);
    create(&merchant, &wanted).await.expect(200);
}

#[tokio::test]
async fn the_audit_log_tells_of_each_change_but_not_the_path_of_the_url() {
    let merchant = env().open_merchant().await;
    let id = create(&merchant, &json!({"url": URL})).await.expect(200).id();
    call(&merchant, id, "update", &json!({"url": URL})).await.expect(200);
    call(&merchant, id, "update", &json!({"include_tokens": true})).await.expect(200);
    call(&merchant, id, "rotate-secret", &json!({})).await.expect(200);
    call(&merchant, id, "delete", &json!({})).await.expect(200);
    let lines = env().asks_the_database(&format!(
        "SELECT action, actor LIKE 'user:%', details ->> 'server' FROM audit_log
         WHERE subject = 'webhook_endpoint:{id}' AND organisation_id = {} ORDER BY id",
        merchant.organisation
    ));
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(
        lines,
        [
            "webhook_endpoint.created|t|https://till.example",
            "webhook_endpoint.changed|t|https://till.example",
            "webhook_endpoint.keys_rotated|t|",
            "webhook_endpoint.deleted|t|https://till.example",
        ]
    );
}

#[tokio::test]
async fn a_viewer_sees_endpoints_and_changes_none() {
    let viewer = env().open_merchant_of_a_viewer().await;
    assert_eq!(viewer.get(ENDPOINTS).await.expect(200).body, json!([]));
    let refused = create(&viewer, &json!({"url": URL})).await;
    assert_eq!(refused.refusal(), (403, "missing_permission", None));
}
