//! A caller of a server at any address, which may be unreachable.

use reqwest::{Client, header::CONTENT_TYPE};
use sandbox::{Credentials, http_client};
use serde_json::Value;

/// A caller, which may have logged in.
#[derive(Clone)]
pub struct Caller {
    client: Client,
    api: String,
    access_token: String,
}

impl Caller {
    /// A caller of the surface at this address.
    pub fn at(api: &str) -> Self {
        Self { client: http_client().unwrap(), api: api.to_owned(), access_token: String::new() }
    }

    pub async fn logs_in(&mut self, credentials: &Credentials) -> (u16, Value) {
        let mut body = credentials.login_body();
        body["source_channel"] = "WEB".into();
        let (status, answer) = self.posts("/auth/login", body.to_string()).await.unwrap();
        answer["access_token"].as_str().unwrap_or_default().clone_into(&mut self.access_token);
        (status, answer)
    }

    /// The answer's status and body. An error if the connection was cut.
    pub async fn posts(&self, path: &str, body: String) -> reqwest::Result<(u16, Value)> {
        let request = self.client.post(format!("{}{path}", self.api)).bearer_auth(&self.access_token);
        let answer = request.header(CONTENT_TYPE, "application/json").body(body).send().await?;
        let status = answer.status().as_u16();
        Ok((status, serde_json::from_slice(&answer.bytes().await?).unwrap()))
    }

    /// The answer's status and text.
    pub async fn gets(&self, path: &str) -> (u16, String) {
        let request = self.client.get(format!("{}{path}", self.api)).bearer_auth(&self.access_token);
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }

    /// Whether the server answers at all.
    pub async fn reaches_it(&self) -> bool {
        self.client.get(format!("{}/vas-products", self.api)).send().await.is_ok()
    }
}
