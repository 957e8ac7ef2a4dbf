//! An organisation of a test's own, logged in: what an integrator does.

use std::{sync::Mutex, thread};

use acceptance::surface::Surface;
use identity::Act;
use money::Money;
use purchase::OrganisationId;
use reqwest::{Client, Method, header::CONTENT_TYPE};
use sandbox::{Credentials, http_client};
use serde_json::Value;
use vend::SubscriberIdentifier;

use crate::{
    books,
    order::Order,
    town::{eventually, town},
    wire::Answer,
};

/// A shop, which calls one surface. When it closes, the books of the town are checked.
pub struct Shop {
    pub surface: Surface,
    pub code: String,
    pub organisation: i64,
    pub account: i64,
    pub credentials: Credentials,
    pub access_token: String,
    pub refresh_token: String,
    client: Client,
    base_url: String,
    /// Purchases that were answered with a token: the tokens, under the purchase's number.
    answered: Mutex<Vec<(i64, Vec<String>)>>,
}

impl Shop {
    pub async fn log_in(opened: sandbox::Shop, base_url: &str) -> Self {
        Self::log_in_on(Surface::V1, opened, base_url).await
    }

    pub async fn log_in_on(surface: Surface, opened: sandbox::Shop, base_url: &str) -> Self {
        let mut shop = Self {
            surface,
            code: opened.credentials.org_code.clone(),
            organisation: opened.organisation.0,
            account: opened.wallets[0].0,
            credentials: opened.credentials,
            access_token: String::new(),
            refresh_token: String::new(),
            client: http_client().unwrap(),
            base_url: base_url.to_owned(),
            answered: Mutex::default(),
        };
        let session = shop.post(surface.login(), &shop.login_body()).await.expect(200);
        session.str("/access_token").clone_into(&mut shop.access_token);
        session.str("/refresh_token").clone_into(&mut shop.refresh_token);
        shop
    }

    /// The same shop, calling another server.
    pub fn calling(&self, base_url: &str) -> Self {
        Self {
            code: self.code.clone(),
            credentials: self.credentials.clone(),
            access_token: self.access_token.clone(),
            refresh_token: self.refresh_token.clone(),
            client: http_client().unwrap(),
            base_url: base_url.to_owned(),
            answered: Mutex::default(),
            ..*self
        }
    }

    /// The same shop with the same access token, calling a surface.
    pub fn on(&self, surface: Surface) -> Self {
        let mut same = self.calling(&self.base_url);
        same.surface = surface;
        same
    }

    /// The server that it calls.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The body of login.
    pub fn login_body(&self) -> String {
        let mut login = serde_json::to_value(&self.credentials).unwrap();
        login["grant_type"] = "password".into();
        login.to_string()
    }

    /// The body of refresh.
    pub fn refresh_body(&self) -> String {
        let mut refresh = serde_json::to_value(&self.credentials).unwrap();
        refresh["grant_type"] = "refresh_token".into();
        refresh["refresh_token"] = Value::from(self.refresh_token.as_str());
        refresh.to_string()
    }

    /// The operator puts one more subscriber on this shop's allow-list.
    pub async fn may_buy_for(&self, subscriber: &str) {
        let subscriber = SubscriberIdentifier::parse(subscriber).unwrap();
        let act = Act { actor: "a test".to_owned(), reason: "it buys for this one too".to_owned() };
        let store = town().sandbox.office().store();
        store.allow(OrganisationId(self.organisation), vec![subscriber], act).await.unwrap();
    }

    /// An order for a meter, on this shop's wallet.
    pub fn order(&self, meter: &str) -> Order {
        Order::on(self.surface, self.account, meter)
    }

    pub async fn validate(&self, order: &Order) -> Answer {
        self.post(self.surface.validate(), &order.body()).await
    }

    pub async fn confirm(&self, order: &Order) -> Answer {
        self.remember(self.post(self.surface.confirm(), &order.body()).await)
    }

    /// Confirms as a till does that was told to wait a little. Whoever confirms within milliseconds of a retry's
    /// answer may be told so, because the answer closed the reference for whatever was on its way.
    pub async fn confirm_afresh(&self, order: &Order) -> Answer {
        let mut last = self.confirm(order).await;
        eventually("the reference is free again", async || {
            if last.status == 409 && last.refusal().1 == "transaction_pending" {
                last = self.confirm(order).await;
                return false;
            }
            true
        })
        .await;
        last
    }

    pub async fn retry(&self, meter: &str, external_reference: &str) -> Answer {
        let question = Order::retry_on(self.surface, meter, external_reference);
        self.remember(self.post(self.surface.retry(), &question.body()).await)
    }

    /// Asks until the purchase is settled.
    pub async fn retry_until_settled(&self, meter: &str, external_reference: &str) -> Answer {
        let mut last = self.retry(meter, external_reference).await;
        eventually("a purchase is settled", async || {
            if last.status == 409 {
                last = self.retry(meter, external_reference).await;
            }
            last.status != 409
        })
        .await;
        last
    }

    /// What is available in the wallet.
    pub async fn balance(&self) -> String {
        let told = self.get(&self.surface.balances(self.account)).await.expect(200);
        self.surface.balance(&told.body, self.account).unwrap().to_owned()
    }

    /// The wallet, loaded with BWP 1000000.00, has paid exactly this.
    pub async fn has_spent(&self, totals: &[&str]) {
        let full = Money::parse_wire("BWP 1000000.00").unwrap();
        let totals = totals.iter().map(|total| Money::parse_wire(total).unwrap());
        let spent = Money::sum(full.currency(), totals).unwrap();
        assert_eq!(self.balance().await, full.minus(spent).unwrap().to_string());
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, None, &[]).await
    }

    pub async fn post(&self, path: &str, body: &str) -> Answer {
        self.send(Method::POST, path, Some(body), &[]).await
    }

    pub async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&str>,
        headers: &[(&str, &str)],
    ) -> Answer {
        let mut request = self.client.request(method, format!("{}{path}", self.base_url));
        if !self.access_token.is_empty() {
            request = request.bearer_auth(&self.access_token);
        }
        if let Some(body) = body {
            request = request.header(CONTENT_TYPE, "application/json").body(body.to_owned());
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        Answer::read(request.send().await.unwrap()).await
    }

    /// How many rows this shop has in the tables where purchases and money are.
    pub fn rows(&self) -> String {
        let (organisation, account) = (self.organisation, self.account);
        town().asks_the_database(&format!(
            "SELECT (SELECT count(*) FROM purchases WHERE organisation_id = {organisation}),
                    (SELECT count(*) FROM attempts JOIN purchases ON id = purchase_id WHERE organisation_id = {organisation}),
                    (SELECT count(*) FROM postings WHERE debit_account_id = {account}),
                    (SELECT held FROM accounts WHERE id = {account}),
                    (SELECT count(*) FROM closed_references WHERE organisation_id = {organisation})"
        ))
    }

    /// The state of this shop's newest purchase, if there is one.
    pub fn newest_state(&self) -> String {
        let organisation = self.organisation;
        town().asks_the_database(&format!(
            "SELECT state FROM purchases WHERE organisation_id = {organisation} ORDER BY id DESC LIMIT 1"
        ))
    }

    fn remember(&self, answer: Answer) -> Answer {
        if answer.status == 200 && answer.surface.token(&answer.body).is_some() {
            let tokens = answer.tokens().into_iter().map(|(_, token)| token.to_owned()).collect();
            self.answered.lock().unwrap().push((answer.id(), tokens));
        }
        answer
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        if !thread::panicking() {
            books::check(self.answered.get_mut().unwrap());
        }
    }
}
