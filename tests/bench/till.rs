//! The requests of every buyer in a measurement: login and confirm.

use std::error::Error;

use crate::client::{Client, json_text};

type Failure = Box<dyn Error + Send + Sync>;

/// More money than any measurement spends.
pub const WALLET_MINOR: i64 = 100_000_000_000_000;

/// Disables the limit per client, because one client sends all requests.
pub const UNLIMITED: [(&str, &str); 2] =
    [("VENDGATE__WEB__LIMITS__CLIENT__PER_SECOND", "0"), ("VENDGATE__WEB__LIMITS__CLIENT__BURST", "0")];

/// An access token for these credentials.
pub async fn log_in(address: &str, credentials: &sandbox::Credentials) -> Result<String, Failure> {
    let body = serde_json::json!({
        "client_id": credentials.client_id,
        "client_secret": credentials.client_secret,
        "grant_type": "password",
        "identifier": credentials.identifier,
        "secret_pass": credentials.secret_pass,
        "org_code": credentials.org_code,
        "source_channel": "WEB",
    });
    let request = post(address, "/public/v1/auth/login", None, &body.to_string());
    let answer = Client::connect(address).await?.exchange(&request).await?;
    json_text(&answer.body, "access_token")
        .ok_or_else(|| format!("login was answered {}", answer.status).into())
}

/// The bytes of a confirm for this meter from this wallet.
pub fn confirm_request(address: &str, token: &str, wallet: i64, meter: &str) -> Vec<u8> {
    let body = format!(
        r#"{{"source_channel":"POS","language":"en-BW","product_type":"ELECTRICITY","provider_code":"BPC","debited_account_id":{wallet},"beneficiary_phone_number":"26771234567","subscriber_identifier":"{meter}","amount":100,"currency":"BWP","external_reference":"bench-{meter}"}}"#
    );
    post(address, "/public/v1/purchases/confirm", Some(token), &body)
}

fn post(address: &str, path: &str, token: Option<&str>, body: &str) -> Vec<u8> {
    let authorization = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\n{authorization}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}
