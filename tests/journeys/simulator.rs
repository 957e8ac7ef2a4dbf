//! A client of the simulator's own control interface: the simulated meters, the log of vends, and the script of
//! faults.

use reqwest::{
    Client, RequestBuilder,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE},
};
use sandbox::http_client;
use serde_json::{Value, json};

use crate::env::{env, eventually};

/// A client of the simulator.
pub struct SimulatorClient {
    client: Client,
    url: String,
}

impl SimulatorClient {
    pub fn new() -> Self {
        Self::at(&env().info().simulator_url)
    }

    /// A client of the simulator of another environment.
    pub fn at(url: &str) -> Self {
        Self { client: http_client().unwrap(), url: url.to_owned() }
    }

    /// Enters a token into a meter. Returns its effect, or the reason of the rejection.
    pub async fn enters(&self, meter: &str, token: &str) -> Result<String, String> {
        let body = json!({ "token": token });
        let verdict = self.post(&format!("/meters/{meter}/enter"), &body).await;
        let text = |name: &str| verdict[name].as_str().unwrap_or("none").to_owned();
        if verdict["accepted"] == true { Ok(text("kind")) } else { Err(text("reason")) }
    }

    /// All decisions about vends for a meter, in order.
    pub async fn vends(&self, meter: &str) -> Vec<Value> {
        let response =
            self.client.get(format!("{}/vends?subscriber={meter}", self.url)).send().await.unwrap();
        serde_json::from_str(&response.text().await.unwrap()).unwrap()
    }

    /// The utility's statement of a period about electricity, with planted differences.
    pub async fn statement(&self, from: &str, until: &str, plants: &str) -> String {
        let query = format!("product=ELECTRICITY&from={from}&until={until}&plant={plants}");
        let response = self.client.get(format!("{}/statement?{query}", self.url)).send().await.unwrap();
        assert_eq!(response.status(), 200);
        response.text().await.unwrap()
    }

    /// Buys airtime from the vendor past Vendgate, with the sandbox's account.
    pub async fn tops_up(&self, phone: &str, identifier: &str) {
        let credentials = json!({
            "client_id": "vendgate-airtime", "client_secret": "sandbox-airtime-secret",
            "grant_type": "client_credentials", "audience": format!("{}/reloadly/topups", self.url)
        });
        let pass = self.post("/reloadly/auth/oauth/token", &credentials).await;
        let network = "operators/auto-detect/phone";
        let asks = |request: RequestBuilder| {
            request
                .header(AUTHORIZATION, format!("Bearer {}", pass["access_token"].as_str().unwrap()))
                .header(ACCEPT, "application/com.reloadly.topups-v1+json")
        };
        let topups = format!("{}/reloadly/topups", self.url);
        let detected =
            asks(self.client.get(format!("{topups}/{network}/{phone}/countries/BW"))).send().await.unwrap();
        let detected: Value = serde_json::from_str(&detected.text().await.unwrap()).unwrap();
        let order = json!({
            "operatorId": detected["operatorId"], "amount": 5, "useLocalAmount": true, "customIdentifier": identifier,
            "recipientPhone": { "countryCode": "BW", "number": phone }
        });
        let request =
            asks(self.client.post(format!("{topups}/topups"))).header(CONTENT_TYPE, "application/json");
        let answer = request.body(order.to_string()).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{}", answer.text().await.unwrap());
    }

    /// What it says about a request that it refuses.
    pub async fn refuses(&self, path: &str) -> String {
        let response = self.client.get(format!("{}{path}", self.url)).send().await.unwrap();
        assert_eq!(response.status(), 400, "{path}");
        response.text().await.unwrap()
    }

    /// The number of vends for a meter.
    pub async fn vended(&self, meter: &str) -> usize {
        self.vends(meter).await.iter().filter(|vend| vend["outcome"] == "vended").count()
    }

    /// The SMS to a phone, oldest first.
    pub async fn sms_to(&self, phone: &str) -> Vec<String> {
        let messages = self.messages_to(phone).await;
        let texts = messages.iter().filter(|message| message["channel"] == "sms");
        texts.map(|message| message["text"].as_str().unwrap().to_owned()).collect()
    }

    /// All messages to a phone or an e-mail address, oldest first.
    pub async fn messages_to(&self, receiver: &str) -> Vec<Value> {
        let response = self.client.get(format!("{}/messages?to={receiver}", self.url)).send().await.unwrap();
        serde_json::from_str(&response.text().await.unwrap()).unwrap()
    }

    /// Waits for an SMS that contains a token, in any grouping.
    pub async fn tells(&self, phone: &str, token: &str) {
        let digits = |text: &String| text.chars().filter(char::is_ascii_digit).collect::<String>();
        eventually("an SMS with the token", async || {
            self.sms_to(phone).await.iter().any(|text| digits(text).contains(token))
        })
        .await;
    }

    /// Waits until a phone has received exactly this many SMS.
    pub async fn told(&self, phone: &str, times: usize) {
        eventually("an SMS", async || self.sms_to(phone).await.len() >= times).await;
        assert_eq!(self.sms_to(phone).await.len(), times, "{phone}");
    }

    /// Sets a fault for the next reply about a meter.
    pub async fn will(&self, meter: &str, fault: &Value) {
        let mut line = fault.clone();
        line["subscriber"] = meter.into();
        self.post("/faults", &line).await;
    }

    /// From now on every connection with a request of this operation is cut before anything is done, about whomever it is.
    pub async fn is_silent_about(&self, operation: &str) {
        let line = json!({ "fault": "drop_before", "operation": operation, "times": 1_000_000 });
        self.post("/faults", &line).await;
    }

    /// Forgets all faults.
    pub async fn answers_again(&self) {
        let response = self.client.delete(format!("{}/faults", self.url)).send().await.unwrap();
        assert!(response.status().is_success(), "{response:?}");
    }

    async fn post(&self, path: &str, body: &Value) -> Value {
        let request =
            self.client.post(format!("{}{path}", self.url)).header(CONTENT_TYPE, "application/json");
        let response = request.body(body.to_string()).send().await.unwrap();
        assert!(response.status().is_success(), "{response:?}");
        serde_json::from_str(&response.text().await.unwrap()).unwrap_or(Value::Null)
    }
}
