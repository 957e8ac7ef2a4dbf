//! An integrator as the guide describes it: it confirms, and retries until the answer is final. It records every
//! request and answer with their times.

use std::{
    sync::{Mutex, MutexGuard, PoisonError, RwLock},
    time::Duration,
};

use reqwest::{
    Client, RequestBuilder,
    header::{CONTENT_TYPE, RETRY_AFTER},
};
use sandbox::{Credentials, Merchant, http_client};
use serde_json::{Value, json};

use super::{Order, now};
use crate::{
    checker::{Call, Claim, Exchange, Reply, Secret},
    surface::Surface,
};

/// Longer than any server may take, including the time that it waits for a vend.
pub const PATIENT: Duration = Duration::from_secs(20);
/// Shorter than a vend may take.
pub const HASTY: Duration = Duration::from_millis(900);
/// Longer than a failover.
const LOGGED_IN_WITHIN: Duration = Duration::from_mins(1);
/// The pause of an integrator that does not wait for `Retry-After`.
const BETWEEN_RETRIES: Duration = Duration::from_millis(150);
/// The pause after an answer that is not final and has no `Retry-After`.
const DEFAULT_PAUSE: Duration = Duration::from_secs(1);
/// More retries than any purchase needs that is not left to an operator.
const RETRIES_MAX: usize = 80;

/// The client of one organisation.
pub struct Integrator {
    pub organisation: i64,
    pub self_managed: Account,
    pub managed: Account,
    /// The surface over which it logs in. The access token is valid for both surfaces.
    logs_in_over: Surface,
    credentials: Credentials,
    access_token: RwLock<String>,
    client: Client,
    history: Mutex<Vec<Exchange>>,
}

/// A wallet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account(pub i64);

impl Integrator {
    /// Logs in. The merchant has a wallet of each kind, the self-managed one first.
    pub async fn log_in(logs_in_over: Surface, merchant: Merchant, base_url: &str) -> Self {
        let wallet = |index: usize| Account(merchant.wallets.get(index).unwrap().0);
        let integrator = Self {
            organisation: merchant.organisation.0,
            self_managed: wallet(0),
            managed: wallet(1),
            logs_in_over,
            credentials: merchant.credentials,
            access_token: RwLock::default(),
            client: http_client().unwrap(),
            history: Mutex::default(),
        };
        integrator.log_in_again(base_url).await;
        integrator
    }

    /// The wallet of this kind.
    pub const fn account(&self, is_managed: bool) -> Account {
        if is_managed { self.managed } else { self.self_managed }
    }

    /// Values that must not appear in any log.
    pub fn secrets(&self) -> Vec<Secret> {
        let secret = |name: &str, value: &str| Secret { name: name.to_owned(), value: value.to_owned() };
        vec![
            secret("a client's secret", &self.credentials.client_secret),
            secret("a user's password", &self.credentials.secret_pass),
            secret("an access token", &self.token()),
        ]
    }

    /// All exchanges so far.
    pub fn history(&self) -> MutexGuard<'_, Vec<Exchange>> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Confirms. A keyed order uses its external reference as the idempotency key.
    pub async fn confirm(&self, base_url: &str, order: &Order, patience: Duration) -> Exchange {
        let call = Call::Confirm {
            subscriber: order.subscriber.clone(),
            external_reference: Some(order.external_reference.clone()),
            is_keyed: order.route.is_keyed(),
        };
        let surface = order.route.confirm();
        let request = self.client.post(format!("{base_url}{}", surface.confirm()));
        let request = with_body(request, order.confirm()).timeout(patience);
        let request = if order.route.is_keyed() {
            request.header("idempotency-key", &order.external_reference)
        } else {
            request
        };
        self.asks(base_url, surface, call, request).await
    }

    pub async fn retry(&self, base_url: &str, order: &Order, patience: Duration) -> Exchange {
        self.retry_and_pause(base_url, order, patience).await.0
    }

    /// Retries as the guide says, with the pauses of `Retry-After`, until the answer is final or `patience` is over.
    /// Returns the last exchange and the number of retries.
    pub async fn polls_retry(&self, base_url: &str, order: &Order, patience: Duration) -> (Exchange, usize) {
        let gives_up_at = now() + i64::try_from(patience.as_micros()).unwrap();
        let mut asked = 0;
        loop {
            let (exchange, pause) = self.retry_and_pause(base_url, order, PATIENT).await;
            asked += 1;
            if is_final(&exchange.claim()) || now() > gives_up_at {
                return (exchange, asked);
            }
            tokio::time::sleep(pause.unwrap_or(DEFAULT_PAUSE)).await;
        }
    }

    async fn retry_and_pause(
        &self,
        base_url: &str,
        order: &Order,
        patience: Duration,
    ) -> (Exchange, Option<Duration>) {
        let call = Call::Retry {
            subscriber: order.subscriber.clone(),
            external_reference: order.external_reference.clone(),
        };
        let surface = order.route.retry();
        let request = self.client.post(format!("{base_url}{}", surface.retry()));
        let request = with_body(request, order.retry()).timeout(patience);
        self.asks_and_hears_pause(base_url, surface, call, request).await
    }

    pub async fn balance(&self, base_url: &str, surface: Surface, account: Account) -> Exchange {
        let request = self.client.get(format!("{base_url}{}", surface.balances(account.0))).timeout(PATIENT);
        self.asks(base_url, surface, Call::Balance { account: account.0 }, request).await
    }

    /// Confirms at one server. If the answer is lost or not final, it retries at another server until the answer is
    /// final. A confirm that is known to have bought nothing is not repeated.
    pub async fn buys(&self, first: &str, then: &str, order: &Order, patience: Duration) -> Claim {
        match self.confirm(first, order, patience).await.claim() {
            known @ (Claim::Bought { .. } | Claim::NotBought) => known,
            Claim::Pending { .. } | Claim::Failed { .. } | Claim::Absent | Claim::Nothing
                if order.route.is_keyed() =>
            {
                self.confirms_until_final(then, order).await
            }
            Claim::Pending { .. } | Claim::Failed { .. } | Claim::Absent | Claim::Nothing => {
                self.retries_until_final(then, order).await
            }
        }
    }

    /// Sends the same confirm under the same key until the answer is final.
    async fn confirms_until_final(&self, base_url: &str, order: &Order) -> Claim {
        let mut claim = Claim::Nothing;
        for _ in 0..RETRIES_MAX {
            claim = self.confirm(base_url, order, PATIENT).await.claim();
            if matches!(claim, Claim::Bought { .. } | Claim::NotBought) {
                break;
            }
            tokio::time::sleep(BETWEEN_RETRIES).await;
        }
        claim
    }

    /// Retries at one server until the answer is final. After a lost answer it retries at the other server.
    pub async fn retries(&self, first: &str, then: &str, order: &Order, patience: Duration) -> Claim {
        let claim = self.retries_while_answered(first, order, patience).await;
        if is_final(&claim) { claim } else { self.retries_until_final(then, order).await }
    }

    /// Retries at one server until the answer is final or lost, or until the maximum number of retries.
    pub async fn retries_while_answered(&self, base_url: &str, order: &Order, patience: Duration) -> Claim {
        let mut claim = Claim::Nothing;
        for _ in 0..RETRIES_MAX {
            let exchange = self.retry(base_url, order, patience).await;
            claim = exchange.claim();
            if is_final(&claim) || exchange.reply.is_none() {
                break;
            }
            tokio::time::sleep(BETWEEN_RETRIES).await;
        }
        claim
    }

    /// Retries until the answer is final, or until the maximum number of retries.
    pub async fn retries_until_final(&self, base_url: &str, order: &Order) -> Claim {
        let mut claim = Claim::Nothing;
        for _ in 0..RETRIES_MAX {
            claim = self.retry(base_url, order, PATIENT).await.claim();
            if is_final(&claim) {
                break;
            }
            tokio::time::sleep(BETWEEN_RETRIES).await;
        }
        claim
    }

    /// Creates a batch that buys for 10.00 for each of these subscribers. Each line is recorded as a confirm whose answer is not known:
    /// it makes one purchase at most. Returns the number of the batch.
    pub async fn creates_batch(&self, base_url: &str, reference: &str, subscribers: &[String]) -> i64 {
        let line = |subscriber: &String| {
            json!({
                "product_type": "ELECTRICITY", "provider_code": "BPC", "beneficiary_phone_number": "26771234567",
                "subscriber_identifier": subscriber, "amount": 10,
            })
        };
        let lines: Vec<Value> = subscribers.iter().map(line).collect();
        let body = json!({
            "reference": reference, "language": "en-BW", "debited_account_id": self.self_managed.0, "currency": "BWP",
            "lines": lines,
        });
        let invoked_at = now();
        let request =
            self.client.post(format!("{base_url}/public/v1/batches/create")).bearer_auth(self.token());
        let (reply, _) = read(with_body(request, body.to_string()).timeout(PATIENT)).await.unwrap();
        assert_eq!(reply.status, 200, "{}", reply.text);
        let of_line = |(subscriber, number): (&String, i64)| Exchange {
            organisation: self.organisation,
            surface: Surface::V1,
            call: Call::Confirm {
                subscriber: subscriber.clone(),
                external_reference: Some(format!("{reference}/{number}")),
                is_keyed: false,
            },
            invoked_at: invoked_at + number,
            returned_at: now(),
            reply: None,
        };
        self.history().extend(subscribers.iter().zip(1..).map(of_line));
        reply.body.get("id").and_then(Value::as_i64).unwrap()
    }

    /// Creates a webhook endpoint. Returns it with its secret.
    pub async fn creates_endpoint(&self, base_url: &str, endpoint: &Value) -> Value {
        let request = self.client.post(format!("{base_url}/public/v1/webhook-endpoints/create"));
        let request = with_body(request.bearer_auth(self.token()), endpoint.to_string()).timeout(PATIENT);
        let (reply, _) = read(request).await.unwrap();
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.body
    }

    /// All events of these types, in the order of the feed.
    pub async fn reads_events(&self, base_url: &str, types: &str) -> Vec<Value> {
        let (mut events, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let from = cursor.map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
            let url = format!("{base_url}/public/v1/events?limit=100&types={types}{from}");
            let (reply, _) =
                read(self.client.get(url).bearer_auth(self.token()).timeout(PATIENT)).await.unwrap();
            assert_eq!(reply.status, 200, "{}", reply.text);
            events.extend(reply.body.get("data").and_then(Value::as_array).unwrap().iter().cloned());
            if reply.body.get("has_more") == Some(&Value::Bool(false)) {
                return events;
            }
            cursor = reply.body.get("next_cursor").and_then(Value::as_str).map(str::to_owned);
        }
    }

    async fn asks(&self, base_url: &str, surface: Surface, call: Call, request: RequestBuilder) -> Exchange {
        self.asks_and_hears_pause(base_url, surface, call, request).await.0
    }

    async fn asks_and_hears_pause(
        &self,
        base_url: &str,
        surface: Surface,
        call: Call,
        request: RequestBuilder,
    ) -> (Exchange, Option<Duration>) {
        let again = request.try_clone().unwrap();
        let (exchange, pause) = self.asks_once(surface, call.clone(), request).await;
        if exchange.reply.as_ref().is_none_or(|reply| reply.status != 401) {
            return (exchange, pause);
        }
        // The access token has expired, so the request was not processed.
        self.log_in_again(base_url).await;
        self.asks_once(surface, call, again).await
    }

    async fn asks_once(
        &self,
        surface: Surface,
        call: Call,
        request: RequestBuilder,
    ) -> (Exchange, Option<Duration>) {
        let request = request.bearer_auth(self.token());
        let invoked_at = now();
        let (reply, pause) = read(request).await.unzip();
        let returned_at = now();
        let organisation = self.organisation;
        let exchange = Exchange { organisation, surface, call, invoked_at, returned_at, reply };
        self.history().push(exchange.clone());
        (exchange, pause.flatten())
    }

    /// Logs in, as soon as the server can. Right after a failover it may not.
    async fn log_in_again(&self, base_url: &str) {
        let body = self.credentials.login_body().to_string();
        let gives_up_at = now() + i64::try_from(LOGGED_IN_WITHIN.as_micros()).unwrap();
        let mut reply = None;
        while reply.is_none() && now() < gives_up_at {
            let request =
                self.client.post(format!("{base_url}{}", self.logs_in_over.login())).timeout(PATIENT);
            reply = read(with_body(request, body.clone())).await.filter(|(reply, _)| reply.status == 200);
            if reply.is_none() {
                tokio::time::sleep(BETWEEN_RETRIES).await;
            }
        }
        let (session, _no_pause) = reply.unwrap();
        let token = session.body.get("access_token").and_then(Value::as_str).unwrap();
        token.clone_into(&mut self.access_token.write().unwrap());
    }

    fn token(&self) -> String {
        self.access_token.read().unwrap().clone()
    }
}

/// Whether an answer of retry is final.
fn is_final(claim: &Claim) -> bool {
    matches!(claim, Claim::Bought { .. } | Claim::Failed { .. } | Claim::Absent)
}

fn with_body(request: RequestBuilder, body: String) -> RequestBuilder {
    request.header(CONTENT_TYPE, "application/json").body(body)
}

/// The whole answer and the pause that it asks for. `None` if the connection was cut before the end.
async fn read(request: RequestBuilder) -> Option<(Reply, Option<Duration>)> {
    let response = request.send().await.ok()?;
    let status = response.status().as_u16();
    let request_id = response.headers().get("x-request-id").and_then(|name| name.to_str().ok());
    let request_id = request_id.map(str::to_owned);
    let pause = response.headers().get(RETRY_AFTER).and_then(|seconds| seconds.to_str().ok()?.parse().ok());
    if status == 408 && request_id.is_none() {
        // The connection was closed before a request head arrived, so the request was not read.
        return None;
    }
    let text = response.text().await.ok()?;
    let body = serde_json::from_str(&text).unwrap_or(Value::Null);
    Some((Reply { status, request_id, text, body }, pause.map(Duration::from_secs)))
}
