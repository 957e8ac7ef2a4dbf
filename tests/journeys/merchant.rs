//! A logged in organisation that belongs to one test: the requests of an integrator.

use std::{
    mem,
    sync::{Arc, Mutex},
    thread,
};

use acceptance::surface::Surface;
use identity::AuditContext;
use money::Money;
use purchase::{Handling, OrganisationId};
use reqwest::{Client, Method, header::CONTENT_TYPE};
use sandbox::{Credentials, WalletPlan, http_client};
use serde_json::{Value, json};
use vend::SubscriberIdentifier;

use crate::{
    books,
    env::{env, eventually},
    request_body::RequestBody,
    simulator::SimulatorClient,
    wire::Answer,
};

/// The tokens of the answers, with the id of their purchase.
pub type Answered = Vec<(i64, Vec<String>)>;

/// A merchant that calls one surface. When it is dropped, and the last of those that were made from it, the invariants of the
/// database are checked.
pub struct Merchant {
    pub surface: Surface,
    pub code: String,
    pub organisation: i64,
    pub account: i64,
    pub credentials: Credentials,
    pub access_token: String,
    pub refresh_token: String,
    client: Client,
    base_url: String,
    answered: Arc<Mutex<Answered>>,
}

impl Merchant {
    pub async fn log_in(opened: sandbox::Merchant, base_url: &str) -> Self {
        Self::log_in_on(Surface::V1, opened, base_url).await
    }

    pub async fn log_in_on(surface: Surface, opened: sandbox::Merchant, base_url: &str) -> Self {
        let mut merchant = Self {
            surface,
            code: opened.credentials.org_code.clone(),
            organisation: opened.organisation.0,
            account: opened.wallets[0].0,
            credentials: opened.credentials,
            access_token: String::new(),
            refresh_token: String::new(),
            client: http_client().unwrap(),
            base_url: base_url.to_owned(),
            answered: Arc::default(),
        };
        let session = merchant.post(surface.login(), &merchant.login_body()).await.expect(200);
        session.str("/access_token").clone_into(&mut merchant.access_token);
        session.str("/refresh_token").clone_into(&mut merchant.refresh_token);
        merchant
    }

    /// A self-managed merchant with a purchase that has failed, and with one for this meter whose answer was lost: `open-1`.
    pub async fn with_a_failed_and_an_open_purchase() -> (Self, String) {
        let merchant = env().open_merchant_with(WalletPlan::loaded("Wallet", Handling::SelfManaged)).await;
        merchant.confirm(&merchant.order(env().scenario("account_blocked")).reference("failed-1")).await;
        let meter = env().meter();
        SimulatorClient::new().will(&meter, &json!({ "fault": "drop_after" })).await;
        merchant.confirm(&merchant.order(&meter).reference("open-1")).await.expect(504);
        (merchant, meter)
    }

    /// The same merchant as a client of another server.
    pub fn calling(&self, base_url: &str) -> Self {
        Self {
            code: self.code.clone(),
            credentials: self.credentials.clone(),
            access_token: self.access_token.clone(),
            refresh_token: self.refresh_token.clone(),
            client: http_client().unwrap(),
            base_url: base_url.to_owned(),
            answered: Arc::clone(&self.answered),
            ..*self
        }
    }

    /// The same merchant with the same access token, on another surface.
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
        self.credentials.login_body().to_string()
    }

    /// The body of refresh.
    pub fn refresh_body(&self) -> String {
        let mut refresh = serde_json::to_value(&self.credentials).unwrap();
        refresh["grant_type"] = "refresh_token".into();
        refresh["refresh_token"] = Value::from(self.refresh_token.as_str());
        refresh.to_string()
    }

    /// The operator adds a subscriber to this merchant's allow-list.
    pub async fn may_buy_for(&self, subscriber: &str) {
        let subscriber = SubscriberIdentifier::parse(subscriber).unwrap();
        let act = AuditContext { actor: "a test".to_owned(), reason: "it buys for this one too".to_owned() };
        let store = env().sandbox.office().store();
        catalogue::allow(store.database(), OrganisationId(self.organisation), vec![subscriber], act)
            .await
            .unwrap();
    }

    /// An order for a meter from this merchant's wallet.
    pub fn order(&self, meter: &str) -> RequestBody {
        RequestBody::on(self.surface, self.account, meter)
    }

    pub async fn validate(&self, order: &RequestBody) -> Answer {
        self.post(self.surface.validate(), &order.body()).await
    }

    pub async fn confirm(&self, order: &RequestBody) -> Answer {
        self.remember(self.post(self.surface.confirm(), &order.body()).await)
    }

    /// Confirms, and waits while the answer is 409. A confirm within milliseconds of a retry's answer may get it,
    /// because that answer closed the reference for requests in flight.
    pub async fn confirm_afresh(&self, order: &RequestBody) -> Answer {
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
        let question = RequestBody::retry_on(self.surface, meter, external_reference);
        self.remember(self.post(self.surface.retry(), &question.body()).await)
    }

    /// Retries until the purchase is settled.
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

    /// The available balance of the wallet.
    pub async fn balance(&self) -> String {
        let told = self.get(&self.surface.balances(self.account)).await.expect(200);
        self.surface.balance(&told.body, self.account).unwrap().to_owned()
    }

    /// Checks that the wallet, loaded with BWP 1000000.00, has paid exactly these totals.
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
            if !headers.iter().any(|(name, _)| *name == "Content-Type") {
                request = request.header(CONTENT_TYPE, "application/json");
            }
            request = request.body(body.to_owned());
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        Answer::read(request.send().await.unwrap()).await
    }

    /// The numbers of this merchant's rows in the tables of purchases and money.
    pub fn rows(&self) -> String {
        let (organisation, account) = (self.organisation, self.account);
        env().asks_the_database(&format!(
            "SELECT (SELECT count(*) FROM purchases WHERE organisation_id = {organisation}),
                    (SELECT count(*) FROM attempts JOIN purchases ON id = purchase_id WHERE organisation_id = {organisation}),
                    (SELECT count(*) FROM postings WHERE debit_account_id = {account}),
                    (SELECT held FROM accounts WHERE id = {account}),
                    (SELECT count(*) FROM closed_references WHERE organisation_id = {organisation})"
        ))
    }

    /// The state of this merchant's newest purchase, if there is one.
    pub fn newest_state(&self) -> String {
        let organisation = self.organisation;
        env().asks_the_database(&format!(
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

impl Drop for Merchant {
    fn drop(&mut self) {
        let is_last = Arc::into_inner(mem::take(&mut self.answered));
        if let Some(answered) = is_last.filter(|_| !thread::panicking()) {
            books::assert_sound(&answered.into_inner().unwrap());
        }
    }
}
