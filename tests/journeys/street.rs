//! The simulator's own interface: the meters on the walls, the log of what was really vended, and the script of
//! what is to go wrong.

use reqwest::{Client, header::CONTENT_TYPE};
use sandbox::http_client;
use serde_json::{Value, json};

use crate::town::town;

/// The world outside.
pub struct Street {
    client: Client,
    url: &'static str,
}

impl Street {
    pub fn new() -> Self {
        Self { client: http_client().unwrap(), url: &town().facts().simulator_url }
    }

    /// Types a token into a meter: what it did, or why it did nothing.
    pub async fn enters(&self, meter: &str, token: &str) -> Result<String, String> {
        let body = json!({ "token": token });
        let verdict = self.post(&format!("/meters/{meter}/enter"), &body).await;
        let text = |name: &str| verdict[name].as_str().unwrap_or("none").to_owned();
        if verdict["accepted"] == true { Ok(text("kind")) } else { Err(text("reason")) }
    }

    /// All that was decided about vends for a meter, in order.
    pub async fn vends(&self, meter: &str) -> Vec<Value> {
        let response =
            self.client.get(format!("{}/vends?subscriber={meter}", self.url)).send().await.unwrap();
        serde_json::from_str(&response.text().await.unwrap()).unwrap()
    }

    /// How often something was really vended for a meter.
    pub async fn vended(&self, meter: &str) -> usize {
        self.vends(meter).await.iter().filter(|vend| vend["outcome"] == "vended").count()
    }

    /// Has the next reply about a meter go wrong.
    pub async fn will(&self, meter: &str, fault: &Value) {
        let mut line = fault.clone();
        line["subscriber"] = meter.into();
        self.post("/faults", &line).await;
    }

    async fn post(&self, path: &str, body: &Value) -> Value {
        let request =
            self.client.post(format!("{}{path}", self.url)).header(CONTENT_TYPE, "application/json");
        let response = request.body(body.to_string()).send().await.unwrap();
        assert!(response.status().is_success(), "{response:?}");
        serde_json::from_str(&response.text().await.unwrap()).unwrap_or(Value::Null)
    }
}
