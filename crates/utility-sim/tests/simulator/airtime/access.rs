//! Access tokens, and the refusals without one.

use std::{sync::Arc, time::Duration};

use clock::ManualClock;
use serde_json::{Value, json};
use utility_sim::{Simulator, SimulatorSettings};

use super::kiosk::{Answer, Kiosk, MEDIA_TYPE, credentials, order, phone, sent};
use crate::counter::half_past_nine;

#[tokio::test]
async fn credentials_yield_a_bearer_token_that_says_how_long_it_lasts() {
    let kiosk = Kiosk::open_with(|settings| settings.airtime.token_lifetime_s = 900).await;
    let granted = kiosk.ask_for_token(&credentials(&kiosk.simulator)).await;
    assert_eq!(granted.status, 200);
    assert_eq!((&granted.body["token_type"], &granted.body["expires_in"]), (&json!("Bearer"), &json!(900)));
    assert!(granted.body["scope"].as_str().unwrap().contains("send-topups"));
}

#[tokio::test]
async fn every_part_of_a_token_request_is_looked_at() {
    let kiosk = Kiosk::open().await;
    for (field, value, error) in [
        ("client_id", "somebody", (401, "INVALID_CREDENTIALS")),
        ("client_secret", "guess", (401, "INVALID_CREDENTIALS")),
        ("grant_type", "password", (400, "UNSUPPORTED_GRANT_TYPE")),
        ("audience", "https://giftcards.example.com", (401, "INVALID_AUDIENCE")),
    ] {
        let mut request = credentials(&kiosk.simulator);
        request[field] = json!(value);
        let refused = kiosk.ask_for_token(&request).await;
        assert_eq!(refused.error(), error, "{field}");
        assert_eq!(refused.body["access_token"], Value::Null);
        request.as_object_mut().unwrap().remove(field);
        assert_eq!(kiosk.ask_for_token(&request).await.error(), (400, "BAD_REQUEST"), "{field}");
    }
}

#[tokio::test]
async fn an_audience_that_settings_name_is_the_only_one() {
    let http = Kiosk::open().await.http;
    let ours = "https://topups.example.com";
    let mut settings = SimulatorSettings::default();
    settings.airtime.audience = Some(ours.to_owned());
    let simulator = Simulator::start(&settings, Arc::new(ManualClock::at(half_past_nine()))).unwrap();
    let url = format!("{}/oauth/token", simulator.reloadly_auth_url());
    for (audience, status) in [(ours, 200), (simulator.reloadly_topups_url().as_str(), 401)] {
        let mut request = credentials(&simulator);
        request["audience"] = json!(audience);
        let post = http.post(&url).header("Content-Type", "application/json").body(request.to_string());
        assert_eq!(sent(post).await.unwrap().status, status, "{audience}");
    }
}

#[tokio::test]
async fn there_is_nothing_else_to_get_where_tokens_are() {
    let kiosk = Kiosk::open().await;
    let url = format!("{}/oauth/keys", kiosk.simulator.reloadly_auth_url());
    assert_eq!(sent(kiosk.http.get(url)).await.unwrap().error(), (404, "RESOURCE_NOT_FOUND"));
}

#[tokio::test]
async fn credentials_in_a_form_are_not_read() {
    let kiosk = Kiosk::open().await;
    let url = format!("{}/oauth/token", kiosk.simulator.reloadly_auth_url());
    let form = kiosk.http.post(url).header("Content-Type", "application/x-www-form-urlencoded");
    let refused = sent(form.body("grant_type=client_credentials")).await.unwrap();
    assert_eq!(refused.error(), (415, "UNSUPPORTED_MEDIA_TYPE"));
}

#[tokio::test]
async fn a_token_is_valid_until_it_expires_and_can_be_replaced() {
    let mut kiosk = Kiosk::open_with(|settings| settings.airtime.token_lifetime_s = 60).await;
    kiosk.clock.advance(Duration::from_secs(59));
    assert_eq!(kiosk.get("/accounts/balance").await.status, 200);
    kiosk.clock.advance(Duration::from_secs(1));
    assert_eq!(kiosk.get("/accounts/balance").await.error(), (401, "INVALID_TOKEN"));
    assert_eq!(kiosk.buy("a-1", phone("active")).await.error(), (401, "INVALID_TOKEN"));
    assert_eq!(kiosk.vends(phone("active")).await.len(), 0);

    kiosk.log_in().await;
    assert_eq!(kiosk.buy("a-1", phone("active")).await.state(), (200, "SUCCESSFUL"));
}

#[tokio::test]
async fn without_a_token_or_with_a_made_up_one_nothing_is_answered() {
    let kiosk = Kiosk::open().await;
    let base = kiosk.simulator.reloadly_topups_url();
    for path in ["/accounts/balance", "/operators/countries/BW", "/topups/1/status", "/nowhere"] {
        for authorization in ["", "Bearer made-up", "Basic dmVuZGdhdGU6"] {
            let request = kiosk.http.get(format!("{base}{path}")).header("Accept", MEDIA_TYPE);
            let refused = sent(request.header("Authorization", authorization)).await.unwrap();
            assert_eq!(refused.error(), (401, "INVALID_TOKEN"), "{path} {authorization}");
        }
    }
    let unsigned = kiosk.http.post(format!("{base}/topups")).header("Content-Type", "application/json");
    let body = order("a-1", 641, phone("active"), "10.00").to_string();
    assert_eq!(sent(unsigned.body(body)).await.unwrap().error(), (401, "INVALID_TOKEN"));
    assert_eq!(kiosk.vends(phone("active")).await.len(), 0);
}

#[tokio::test]
async fn a_client_must_accept_what_the_vendor_produces() {
    let kiosk = Kiosk::open().await;
    let granted = kiosk.ask_for_token(&credentials(&kiosk.simulator)).await;
    let bearer = format!("Bearer {}", granted.body["access_token"].as_str().unwrap());
    let ask = async |accept: &str| -> Answer {
        let url = format!("{}/accounts/balance", kiosk.simulator.reloadly_topups_url());
        sent(kiosk.http.get(url).header("Authorization", &bearer).header("Accept", accept)).await.unwrap()
    };
    assert_eq!(ask("application/json").await.error(), (406, "MEDIA_TYPE_NOT_ACCEPTABLE"));
    assert_eq!(ask(MEDIA_TYPE).await.status, 200);
}
