//! An integrator hears of what happened over HTTP, in an order that never changes.

use http_v1::Endpoint;
use serde_json::{Value, json};

use crate::{
    env::{env, eventually},
    merchant::Merchant,
    wire::Answer,
};

async fn read(merchant: &Merchant, query: &str) -> Answer {
    merchant.get(&format!("{}?{query}", Endpoint::Events.path())).await.expect(200)
}

fn types(answer: &Answer) -> Vec<&str> {
    answer.body["data"].as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap()).collect()
}

/// The answer once it has so many events. Other tests hold the feed back while they write.
async fn with(merchant: &Merchant, count: usize) -> Answer {
    let path = format!("{}?limit=1000", Endpoint::Events.path());
    eventually("the events can be read", async || types(&merchant.get(&path).await).len() >= count).await;
    let answer = read(merchant, "limit=1000").await;
    assert_eq!(types(&answer).len(), count, "{}", answer.text);
    answer
}

#[tokio::test]
async fn a_till_hears_of_its_sale_while_it_waits_and_the_event_has_no_token() {
    let merchant = env().open_merchant().await;
    let begun = with(&merchant, 1).await;
    assert_eq!(types(&begun), ["wallet.topped_up"]);
    let cursor = begun.str("/next_cursor").to_owned();
    let path = format!("{}?types=purchase.succeeded&wait=30&cursor={cursor}", Endpoint::Events.path());
    let order = merchant.order(&env().meter());
    let (heard, bought) = tokio::join!(merchant.get(&path), merchant.confirm(&order));
    let (heard, bought) = (heard.expect(200), bought.expect(200));
    assert_eq!(types(&heard), ["purchase.succeeded"]);
    let purchase = &heard.body["data"][0]["data"]["purchase"];
    assert_eq!((&purchase["id"], &purchase["status"]), (&json!(bought.id()), &json!("SUCCESSFUL")));
    assert_eq!(purchase["total"], bought.body["total"]);
    assert!(!heard.text.contains(bought.str("/product/token")), "{}", heard.text);

    let all = with(&merchant, 3).await;
    assert_eq!(types(&all), ["wallet.topped_up", "purchase.accepted", "purchase.succeeded"]);
    assert_eq!(all.body["data"][2], heard.body["data"][0], "an event is the same whenever it is read");
}

#[tokio::test]
async fn pages_lead_from_the_first_event_to_the_last_and_each_sale_ends_once() {
    let merchant = env().open_merchant().await;
    for _ in 0..2 {
        merchant.confirm(&merchant.order(&env().meter())).await.expect(200);
    }
    merchant.confirm(&merchant.order(env().scenario("account_blocked"))).await;
    let whole = with(&merchant, 7).await;
    let (mut events, mut query) = (Vec::new(), "limit=2".to_owned());
    loop {
        let page = read(&merchant, &query).await;
        events.extend(page.body["data"].as_array().unwrap().clone());
        query = format!("limit=2&cursor={}", page.str("/next_cursor"));
        if page.body["has_more"] == json!(false) {
            break;
        }
    }
    assert_eq!(Value::from(events), whole.body["data"]);
    let ends =
        types(&whole).into_iter().filter(|name| ["purchase.succeeded", "purchase.failed"].contains(name));
    assert_eq!(ends.collect::<Vec<_>>(), ["purchase.succeeded", "purchase.succeeded", "purchase.failed"]);
    assert_eq!(types(&read(&merchant, &query).await), [""; 0], "nothing more has happened");
}

#[tokio::test]
async fn a_query_for_events_that_cannot_be_answered_is_refused_by_its_field() {
    let merchant = env().open_merchant().await;
    let cursor = with(&merchant, 1).await.str("/next_cursor").to_owned();
    for (query, param) in [
        ("types=purchase.lost", "types"),
        ("wait=31", "wait"),
        ("limit=0", "limit"),
        ("cursor=1", "cursor"),
        ("from=1", "from"),
    ] {
        let refused = merchant.get(&format!("{}?{query}", Endpoint::Events.path())).await;
        assert_eq!(refused.refusal(), (400, "invalid_argument", Some(param)), "{query}");
    }
    env().asks_the_database(&format!(
        "INSERT INTO feed_deletions (organisation_id, transaction_no, id, at) VALUES ({}, 9000000000000000, 1, now())",
        merchant.organisation
    ));
    let behind = merchant.get(&format!("{}?cursor={cursor}", Endpoint::Events.path())).await;
    assert_eq!(behind.refusal(), (400, "invalid_argument", Some("cursor")));
    assert!(behind.text.contains("no longer kept"), "{}", behind.text);
}

#[tokio::test]
async fn every_event_has_the_form_that_the_document_gives_it() {
    let merchant = env().open_merchant().await;
    env().asks_the_database(&format!(
        "UPDATE accounts SET low_balance = posted WHERE id = {};
         UPDATE client_secrets s SET expires_at = now() + interval '3 days'
         FROM oauth_clients c WHERE c.id = s.oauth_client_id AND c.organisation_id = {};
         SELECT tell_feed_of_expiring_secrets(14);
         INSERT INTO webhook_endpoints (organisation_id, url, event_types, include_tokens, changed_by)
         SELECT organisation_id, 'https://till.example/', '{{}}', false, id FROM users WHERE organisation_id = {1};
         UPDATE webhook_endpoints SET status = 'SWITCHED_OFF', switched_off_because = 'FAILING' WHERE organisation_id = {1}",
        merchant.account, merchant.organisation
    ));
    merchant.confirm(&merchant.order(&env().meter())).await.expect(200);
    let told = with(&merchant, 6).await;
    let mut seen = types(&told);
    seen.sort_unstable();
    assert_eq!(
        seen,
        [
            "client.secret_expiring",
            "purchase.accepted",
            "purchase.succeeded",
            "wallet.low",
            "wallet.topped_up",
            "webhook_endpoint.switched_off"
        ]
    );
    have_the_documented_form(&merchant, &told).await;
}

/// Each event on a page has the form that the document gives to its type, and no other.
pub async fn have_the_documented_form(merchant: &Merchant, told: &Answer) {
    let document = merchant.get("/public/v1/openapi.json").await.expect(200).body;
    let forms = &document["components"]["schemas"]["Event"]["discriminator"]["mapping"];
    for event in told.body["data"].as_array().unwrap() {
        let form = forms[event["type"].as_str().unwrap()].as_str().unwrap();
        let form = document.pointer(form.trim_start_matches('#')).unwrap();
        assert!(form["properties"]["type"]["enum"].as_array().unwrap().contains(&event["type"]), "{event}");
        assert!(has_form(form, event), "{event}");
    }
}

/// Whether an object has what is required and nothing that is not documented, and so have the objects in it.
fn has_form(form: &Value, value: &Value) -> bool {
    let Some(members) = value.as_object() else { return true };
    let known = form["properties"].as_object();
    let required = form["required"].as_array().into_iter().flatten();
    required.into_iter().all(|name| members.contains_key(name.as_str().unwrap()))
        && members.iter().all(|(name, member)| {
            known.and_then(|known| known.get(name)).is_some_and(|form| has_form(form, member))
        })
}
