//! A client that buys airtime: hand-written requests, raw answers.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use clock::ManualClock;
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};
use utility_sim::{Product, Simulator, SimulatorSettings, subscriber};

use crate::counter::half_past_nine;

pub const MEDIA_TYPE: &str = "application/com.reloadly.topups-v1+json";
pub const MASCOM: u32 = 641;
pub const ORANGE: u32 = 642;
pub const BTC: u32 = 643;

/// A simulator, a manual clock, and a client with an access token.
pub struct Kiosk {
    pub simulator: Simulator,
    pub clock: ManualClock,
    pub http: Client,
    access_token: String,
    next: AtomicU32,
}

/// An answer: its HTTP status, its text, and the text as JSON.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub text: String,
    pub body: Value,
}

/// The number of the telephone with this name.
pub fn phone(name: &str) -> &'static str {
    subscriber(Product::Airtime, name).unwrap()
}

pub fn credentials(simulator: &Simulator) -> Value {
    json!({
        "client_id": "vendgate-airtime",
        "client_secret": "sandbox-airtime-secret",
        "grant_type": "client_credentials",
        "audience": simulator.reloadly_topups_url(),
    })
}

pub fn order(identifier: &str, operator: u32, number: &str, amount: &str) -> Value {
    json!({
        "operatorId": operator,
        "amount": amount,
        "useLocalAmount": true,
        "customIdentifier": identifier,
        "recipientPhone": { "countryCode": "BW", "number": number },
    })
}

impl Kiosk {
    pub async fn open() -> Self {
        Self::open_with(|_as_it_is| {}).await
    }

    pub async fn open_with(change: impl FnOnce(&mut SimulatorSettings)) -> Self {
        // Only the first test of a process can install it.
        let _installed = rustls::crypto::ring::default_provider().install_default();
        let mut settings = SimulatorSettings::default();
        change(&mut settings);
        let clock = ManualClock::at(half_past_nine());
        let simulator = Simulator::start(&settings, Arc::new(clock.clone())).unwrap();
        let http = Client::builder().timeout(Duration::from_secs(20)).build().unwrap();
        let mut kiosk = Self { simulator, clock, http, access_token: String::new(), next: AtomicU32::new(1) };
        kiosk.log_in().await;
        kiosk
    }

    pub async fn log_in(&mut self) {
        let granted = self.ask_for_token(&credentials(&self.simulator)).await;
        granted.body["access_token"].as_str().unwrap().clone_into(&mut self.access_token);
    }

    pub async fn ask_for_token(&self, request: &Value) -> Answer {
        let url = format!("{}/oauth/token", self.simulator.reloadly_auth_url());
        let post = self.http.post(url).header("Content-Type", "application/json");
        sent(post.body(request.to_string())).await.unwrap()
    }

    /// An identifier that was not used before.
    pub fn fresh(&self) -> String {
        format!("vend-{}", self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// Buys ten pula of airtime for a telephone of Mascom.
    pub async fn buy(&self, identifier: &str, number: &str) -> Answer {
        self.post(&order(identifier, MASCOM, number, "10.00")).await.unwrap()
    }

    pub async fn post(&self, order: &Value) -> reqwest::Result<Answer> {
        let url = format!("{}/topups", self.simulator.reloadly_topups_url());
        let post = self.http.post(url).header("Content-Type", "application/json");
        sent(self.signed(post).body(order.to_string())).await
    }

    pub async fn get(&self, path: &str) -> Answer {
        let url = format!("{}{path}", self.simulator.reloadly_topups_url());
        sent(self.signed(self.http.get(url))).await.unwrap()
    }

    pub async fn report(&self, identifier: &str) -> Answer {
        self.get(&format!("/topups/reports/transactions?customIdentifier={identifier}")).await
    }

    /// The states of the top-ups in the report under this identifier.
    pub async fn states(&self, identifier: &str) -> Vec<String> {
        let page = self.report(identifier).await;
        let content = page.body["content"].as_array().unwrap();
        content.iter().map(|topup| topup["status"].as_str().unwrap().to_owned()).collect()
    }

    /// The text of the number, exact beyond the precision of a float.
    pub async fn balance(&self) -> String {
        let answer = self.get("/accounts/balance").await.text;
        let (_, rest) = answer.split_once(r#"{"balance":"#).unwrap();
        rest.split(',').next().unwrap().to_owned()
    }

    pub async fn vends(&self, number: &str) -> Vec<Value> {
        let url = format!("{}/vends?subscriber={number}", self.simulator.url());
        sent(self.http.get(url)).await.unwrap().body.as_array().unwrap().clone()
    }

    pub async fn script(&self, line: Value) {
        let url = format!("{}/faults", self.simulator.url());
        assert_eq!(sent(self.http.post(url).body(line.to_string())).await.unwrap().status, 204);
    }

    fn signed(&self, request: RequestBuilder) -> RequestBuilder {
        let bearer = format!("Bearer {}", self.access_token);
        request.header("Authorization", bearer).header("Accept", MEDIA_TYPE)
    }
}

impl Answer {
    /// The status and the error code of an error.
    pub fn error(&self) -> (u16, &str) {
        (self.status, self.body["errorCode"].as_str().unwrap_or_default())
    }

    /// The status, and the state of the top-up.
    pub fn state(&self) -> (u16, &str) {
        (self.status, self.body["status"].as_str().unwrap_or_default())
    }
}

pub async fn sent(request: RequestBuilder) -> reqwest::Result<Answer> {
    let response = request.send().await?;
    let status = response.status().as_u16();
    let text = response.text().await?;
    let body = serde_json::from_str(&text).unwrap_or(Value::Null);
    Ok(Answer { status, text, body })
}
