//! "I lost my slip": the last tokens of a meter, for the organisation that sold them, with a line in the audit log.

use serde_json::{Value, json};

use crate::{env::env, merchant::Merchant, wire::Answer};

async fn look_up(merchant: &Merchant, subscriber: &str, query: &str) -> Answer {
    merchant.get(&format!("/public/v1/subscribers/{subscriber}/purchases{query}")).await
}

/// Subject and shown purchases of the newest line about a look of this merchant.
fn newest_line(merchant: &Merchant) -> (String, Value) {
    let line = env().asks_the_database(&format!(
        "SELECT subject || ' ' || (details ->> 'purchases') FROM audit_log
         WHERE organisation_id = {} AND action = 'subscriber.looked_up' ORDER BY id DESC LIMIT 1",
        merchant.organisation
    ));
    let (subject, shown) = line.split_once(' ').unwrap();
    (subject.to_owned(), serde_json::from_str(shown).unwrap())
}

#[tokio::test]
async fn a_customer_without_a_slip_gets_the_last_tokens_of_the_meter_and_the_log_says_so() {
    let (merchant, meter) = (env().open_merchant().await, env().meter());
    let mut bought = Vec::new();
    for number in 0..4 {
        let order = merchant.order(&meter).reference(&format!("till-{number}"));
        bought.insert(0, merchant.confirm(&order).await.expect(200));
    }
    let found = look_up(&merchant, &meter, "").await.expect(200);
    let shown = found.body["data"].as_array().unwrap();
    assert_eq!(shown.len(), 3);
    for (purchase, sold) in shown.iter().zip(&bought) {
        assert_eq!(purchase["id"], sold.id());
        assert_eq!(purchase["product"]["token"], sold.body["product"]["token"]);
    }
    let ids: Vec<i64> = bought.iter().map(Answer::id).collect();
    assert_eq!(newest_line(&merchant), (format!("subscriber:{meter}"), json!(ids[..3])));
    let one = look_up(&merchant, &meter, "?limit=1").await.expect(200);
    assert_eq!(one.body["data"].as_array().unwrap().len(), 1);
    for limit in ["0", "11", "x"] {
        let refused = look_up(&merchant, &meter, &format!("?limit={limit}")).await;
        assert_eq!(refused.refusal(), (400, "invalid_argument", Some("limit")), "{limit}");
    }
}

#[tokio::test]
async fn what_was_not_sold_or_has_no_token_is_not_shown_and_the_look_is_logged_all_the_same() {
    let merchant = env().open_merchant().await;
    let blocked = env().scenario("account_blocked");
    merchant.confirm(&merchant.order(blocked)).await;
    for subscriber in [blocked, "26771234567", "nobody-1"] {
        let found = look_up(&merchant, subscriber, "").await.expect(200);
        assert_eq!(found.body, json!({ "data": [] }), "{subscriber}");
        let (subject, shown) = newest_line(&merchant);
        assert!(
            subject.starts_with("subscriber:erased."),
            "no number is written that no purchase has: {subject}"
        );
        assert_eq!(shown, json!([]));
    }
    let refused = look_up(&merchant, "a%20b", "").await;
    assert_eq!(refused.refusal(), (400, "invalid_argument", Some("id")));
}

#[tokio::test]
async fn an_organisation_looks_up_a_thousand_meters_in_an_hour_and_no_more() {
    let merchant = env().open_merchant().await;
    env().asks_the_database(&format!(
        "SELECT count(look_up_purchases({}, 1, 1, '0' || n, 90, 3, 1000)) FROM generate_series(1, 999) AS n",
        merchant.organisation
    ));
    look_up(&merchant, "07000010012", "").await.expect(200);
    let refused = look_up(&merchant, "07000010012", "").await;
    assert_eq!(refused.refusal(), (429, "rate_limited", None));
    assert_eq!(refused.header("retry-after"), Some("300"));
}
