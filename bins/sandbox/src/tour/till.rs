//! The integrator's side of the tour: requests over real HTTP, and answers that are checked in detail.

use money::Money;
use reqwest::{Client, RequestBuilder, header::CONTENT_TYPE};
use serde_json::Value;

use super::Surprise;
use crate::{SandboxInfo, seed::Offering};

/// The telephone number of the customer in every purchase.
pub(super) const CUSTOMER: &str = "26771234567";

/// A client that has logged in.
pub(super) struct Till {
    client: Client,
    surface: String,
    account: i64,
    pub(super) access_token: String,
    pub(super) access_in: u64,
}

/// The answer to one request.
pub(super) struct Answer {
    asked: String,
    status: u16,
    body: Value,
}

impl Till {
    pub(super) async fn log_in(client: Client, info: &SandboxInfo) -> Result<Self, Surprise> {
        let surface = format!("{}/public/v1", info.base_url);
        let mut till =
            Self { client, surface, account: info.account_id, access_token: String::new(), access_in: 0 };
        let mut body = serde_json::to_value(&info.credentials)?;
        if let Value::Object(fields) = &mut body {
            fields.insert("grant_type".to_owned(), "password".into());
            fields.insert("source_channel".to_owned(), "WEB".into());
        }
        let session = till.post("/auth/login", &body.to_string()).await?.expect(200)?;
        session.expect_text("/token_type", "bearer")?;
        till.access_in = session.number("/access_in")?;
        session.text("/access_token")?.clone_into(&mut till.access_token);
        Ok(till)
    }

    pub(super) async fn get(&self, path: &str) -> Result<Answer, Surprise> {
        let request = self.client.get(format!("{}{path}", self.surface));
        self.send(format!("GET {path}"), request).await?.expect(200)
    }

    pub(super) async fn post(&self, path: &str, body: &str) -> Result<Answer, Surprise> {
        let request = self.client.post(format!("{}{path}", self.surface));
        let request = request.header(CONTENT_TYPE, "application/json").body(body.to_owned());
        self.send(format!("POST {path}"), request).await
    }

    /// The body of validate and confirm.
    pub(super) fn order(
        &self,
        offering: &Offering,
        subscriber: &str,
        amount: &str,
        external_reference: &str,
    ) -> String {
        Self::order_from(self.account, offering, subscriber, amount, external_reference)
    }

    /// The same, from another wallet.
    pub(super) fn order_from(
        account: i64,
        offering: &Offering,
        subscriber: &str,
        amount: &str,
        external_reference: &str,
    ) -> String {
        let (product, provider) = (offering.product, offering.provider);
        format!(
            r#"{{"source_channel": "WEB", "language": "en-BW", "product_type": "{product}", "provider_code": "{provider}", "debited_account_id": {account}, "beneficiary_phone_number": "{CUSTOMER}", "subscriber_identifier": "{subscriber}", "amount": {amount}, "currency": "BWP", "external_reference": "{external_reference}"}}"#
        )
    }

    pub(super) async fn balance(&self) -> Result<Money, Surprise> {
        self.balance_of(self.account).await
    }

    pub(super) async fn balance_of(&self, account: i64) -> Result<Money, Surprise> {
        let account = self.get(&format!("/accounts/{account}")).await?;
        Ok(Money::parse_wire(account.text("/balance")?)?)
    }

    pub(super) fn expect_charged_once(before: Money, after: Money, bought: &Answer) -> Result<(), Surprise> {
        let left = before.minus(Money::parse_wire(bought.text("/total")?)?)?;
        Surprise::unless_equal("the wallet's balance", &left, &after)
    }

    async fn send(&self, asked: String, request: RequestBuilder) -> Result<Answer, Surprise> {
        let request =
            if self.access_token.is_empty() { request } else { request.bearer_auth(&self.access_token) };
        let response = request.send().await?;
        let status = response.status().as_u16();
        let named = response.headers().contains_key("x-request-id");
        Surprise::unless_equal(&format!("an X-Request-Id on the answer to {asked}"), &true, &named)?;
        Ok(Answer { asked, status, body: serde_json::from_slice(&response.bytes().await?)? })
    }
}

impl Answer {
    pub(super) fn expect(self, status: u16) -> Result<Self, Surprise> {
        if self.status == status {
            return Ok(self);
        }
        let found = format!("{} {}", self.status, self.body);
        Err(Surprise::different(&format!("the answer to {}", self.asked), &status, &found))
    }

    pub(super) fn text(&self, pointer: &str) -> Result<&str, Surprise> {
        self.body.pointer(pointer).and_then(Value::as_str).ok_or_else(|| self.lacks(pointer, "a text"))
    }

    pub(super) fn number(&self, pointer: &str) -> Result<u64, Surprise> {
        self.body.pointer(pointer).and_then(Value::as_u64).ok_or_else(|| self.lacks(pointer, "a number"))
    }

    /// Checks that the field is absent.
    pub(super) fn expect_none(&self, pointer: &str) -> Result<(), Surprise> {
        let found = self.body.pointer(pointer).is_some();
        Surprise::unless_equal(&format!("a {pointer} in {}", self.asked), &false, &found)
    }

    pub(super) fn expect_text(&self, pointer: &str, expected: &str) -> Result<(), Surprise> {
        Surprise::unless_equal(&format!("{pointer} of {}", self.asked), &expected, &self.text(pointer)?)
    }

    /// The rows of the answer, which must be a list of at least one.
    pub(super) fn rows(&self) -> Result<Vec<Self>, Surprise> {
        let rows = self.body.as_array().filter(|rows| !rows.is_empty());
        let rows = rows.ok_or_else(|| self.lacks("", "a list of something"))?;
        let row = |body: &Value| Self { asked: self.asked.clone(), status: self.status, body: body.clone() };
        Ok(rows.iter().map(row).collect())
    }

    fn lacks(&self, pointer: &str, expected: &str) -> Surprise {
        let found = self.body.pointer(pointer).map_or_else(|| "absent".to_owned(), Value::to_string);
        Surprise::different(&format!("{pointer} of {}", self.asked), &expected, &found)
    }
}

/// The body of retry.
pub(super) fn question(meter: &str, external_reference: &str) -> String {
    format!(
        r#"{{"source_channel": "WEB", "language": "en-BW", "subscriber_identifier": "{meter}", "external_reference": "{external_reference}"}}"#
    )
}
