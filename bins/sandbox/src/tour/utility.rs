//! The simulator's control interface: virtual meters, telephones, and the log of actual vends.

use reqwest::{Client, header::CONTENT_TYPE};
use serde_json::{Value, json};

use super::Surprise;

/// The simulator.
pub(super) struct Utility {
    client: Client,
    url: String,
}

/// The result of entering a token.
#[derive(Debug)]
pub(super) struct Verdict {
    /// What the token did.
    pub(super) kind: Option<String>,
    /// Why the token did nothing.
    pub(super) reason: Option<String>,
    /// The total credit.
    pub(super) units_total: String,
}

impl Utility {
    pub(super) fn new(client: Client, url: &str) -> Self {
        Self { client, url: url.to_owned() }
    }

    pub(super) async fn enters(&self, meter: &str, token: &str) -> Result<Verdict, Surprise> {
        let request = self.client.post(format!("{}/meters/{meter}/enter", self.url));
        let body = json!({ "token": token }).to_string();
        let response = request.header(CONTENT_TYPE, "application/json").body(body).send().await?;
        let verdict: Value = serde_json::from_slice(&response.bytes().await?)?;
        let text = |name: &str| verdict.get(name).and_then(Value::as_str).map(str::to_owned);
        Ok(Verdict {
            kind: text("kind"),
            reason: text("reason"),
            units_total: text("units_total").unwrap_or_default(),
        })
    }

    /// The number of vends in the log for a meter.
    pub(super) async fn vends_for(&self, meter: &str) -> Result<usize, Surprise> {
        let response = self.client.get(format!("{}/vends?subscriber={meter}", self.url)).send().await?;
        let vends: Vec<Value> = serde_json::from_slice(&response.bytes().await?)?;
        Ok(vends.iter().filter(|vend| vend.get("outcome").is_some_and(|outcome| outcome == "vended")).count())
    }

    /// All SMS that a telephone has received.
    pub(super) async fn sms_to(&self, phone: &str) -> Result<Vec<String>, Surprise> {
        let response = self.client.get(format!("{}/messages?to={phone}", self.url)).send().await?;
        let messages: Vec<Value> = serde_json::from_slice(&response.bytes().await?)?;
        let is_sms = |message: &&Value| message.get("channel").is_some_and(|channel| channel == "sms");
        let text = |message: &Value| message.get("text").and_then(Value::as_str).map(str::to_owned);
        Ok(messages.iter().filter(is_sms).filter_map(text).collect())
    }
}
