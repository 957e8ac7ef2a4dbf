//! The requests of every buyer in a measurement.

use sandbox::Merchant;

use crate::{
    Failure,
    client::{Client, json_text, request},
};

/// Disables the limit per client, because one client sends all requests.
pub const UNLIMITED: [(&str, &str); 2] =
    [("VENDGATE__WEB__LIMITS__CLIENT__PER_SECOND", "0"), ("VENDGATE__WEB__LIMITS__CLIENT__BURST", "0")];

/// In the body of every answer about a purchase that has succeeded.
pub const BOUGHT: &str = r#""status":"SUCCESSFUL""#;

/// The path of a confirm.
pub const CONFIRM: &str = "/public/v1/purchases/confirm";
/// The path of the caller's own user.
pub const ME: &str = "/public/v1/auth/me";

const JSON: &str = "Content-Type: application/json\r\n";

/// The user of a merchant, logged in at one server.
pub struct Till {
    address: String,
    token: String,
    wallet: i64,
}

impl Till {
    /// Logs in. The access token is valid for a quarter of an hour. It is presented once: until then, each request with it
    /// counts against the limit of its address for unknown tokens.
    pub async fn log_in(address: &str, merchant: &Merchant) -> Result<Self, Failure> {
        let body = merchant.credentials.login_body().to_string();
        let login = request("POST /public/v1/auth/login", address, JSON, &body);
        let mut client = Client::connect(address).await?;
        let answer = client.exchange(&login).await?;
        let token = json_text(&answer.body, "access_token");
        let token = token.ok_or_else(|| format!("login was answered {}", answer.status))?;
        let wallet = merchant.wallets.first().ok_or("the merchant has no wallet")?.0;
        let till = Self { address: address.to_owned(), token, wallet };
        client.exchange(&till.read(ME)).await?;
        Ok(till)
    }

    /// A confirm for this meter. All confirms for one meter have the same external reference.
    pub fn confirm(&self, meter: &str) -> Vec<u8> {
        self.post(CONFIRM, &self.order(meter))
    }

    /// A confirm for this meter under this reference, with this idempotency key.
    pub fn confirm_once(&self, meter: &str, reference: &str, key: &str) -> Vec<u8> {
        let headers = format!("{}Idempotency-Key: {key}\r\n{JSON}", self.authorization());
        request(&format!("POST {CONFIRM}"), &self.address, &headers, &self.order_under(meter, reference))
    }

    /// A validate with the body of the confirm.
    pub fn validate(&self, meter: &str) -> Vec<u8> {
        self.post("/public/v1/purchases/validate", &self.order(meter))
    }

    /// A retry of the last confirm for this meter.
    pub fn retry(&self, meter: &str) -> Vec<u8> {
        self.retry_of(meter, &format!("bench-{meter}"))
    }

    /// A retry of the newest confirm for this subscriber under this reference.
    pub fn retry_of(&self, subscriber: &str, reference: &str) -> Vec<u8> {
        let question = format!(
            r#"{{"source_channel":"POS","language":"en-BW","subscriber_identifier":"{subscriber}","external_reference":"{reference}"}}"#
        );
        self.post("/public/v1/purchases/retry", &question)
    }

    /// A request that only reads.
    pub fn read(&self, path: &str) -> Vec<u8> {
        request(&format!("GET {path}"), &self.address, &self.authorization(), "")
    }

    fn order(&self, meter: &str) -> String {
        self.order_under(meter, &format!("bench-{meter}"))
    }

    fn order_under(&self, meter: &str, reference: &str) -> String {
        let wallet = self.wallet;
        format!(
            r#"{{"source_channel":"POS","language":"en-BW","product_type":"ELECTRICITY","provider_code":"BPC","debited_account_id":{wallet},"beneficiary_phone_number":"26771234567","subscriber_identifier":"{meter}","amount":100,"currency":"BWP","external_reference":"{reference}"}}"#
        )
    }

    fn post(&self, path: &str, body: &str) -> Vec<u8> {
        let headers = format!("{}{JSON}", self.authorization());
        request(&format!("POST {path}"), &self.address, &headers, body)
    }

    fn authorization(&self) -> String {
        format!("Authorization: Bearer {}\r\n", self.token)
    }
}
