//! Isolation of two organisations. Every parameter of every endpoint in the served document is called with ids and
//! names of the other organisation, and finds nothing.

use std::collections::BTreeSet;

use http_v1::{BatchCall, Endpoint, WebhookCall};
use serde_json::{Value, json};

use crate::{
    batches, env::env, merchant::Merchant, messages_again::send_again, request_body::RequestBody,
    statements::today, webhooks,
};

/// Names in requests that do not refer to data of an organisation.
const UNOWNED: [&str; 44] = [
    "Idempotency-Key",
    "X-Request-Id",
    "Accept-Language",
    "Authorization",
    "If-None-Match",
    "amount",
    "beneficiary_phone_number",
    "charges_on_top_flag",
    "client_id",
    "client_secret",
    "comment",
    "currency",
    "from",
    "grant_type",
    "identifier",
    "language",
    "limit",
    "org_code",
    "product_type",
    "provider_code",
    "refresh_token",
    "secret_pass",
    "send_beneficiary_email",
    "send_beneficiary_sms",
    "send_requester_email",
    "send_requester_sms",
    "source_channel",
    "status",
    "to",
    "code",
    "hard_validate",
    "source_tag",
    "date",
    "format",
    "columns",
    "code_page",
    "phone_number",
    "types",
    "wait",
    "url",
    "description",
    "event_types",
    "include_tokens",
    "overlap_hours",
];

/// Data of the other organisation, by the endpoint and the name of the parameter or field.
struct Things {
    account: String,
    purchase: String,
    meter: String,
    cursor: String,
    statement_cursor: String,
    event_cursor: String,
    webhook_endpoint: i64,
    batch: i64,
}

#[tokio::test]
async fn what_belongs_to_another_organisation_is_as_absent_as_what_never_was() {
    let (mine, theirs) = (env().open_merchant().await, env().open_merchant().await);
    let things = Things::of(&theirs).await;
    let document = mine.get("/public/v1/openapi.json").await.expect(200);
    let mut walked = 0;
    for endpoint in Endpoint::ALL {
        for name in names_in_requests(&document.body, endpoint) {
            if UNOWNED.contains(&name.as_str()) {
                continue;
            }
            things.ask(&mine, endpoint, &name).await;
            walked += 1;
        }
    }
    assert_eq!(walked, 41, "a name was added or removed: does it refer to data of an organisation?");
    assert_eq!(mine.rows(), "0|0|0|0|1", "retry closed its own reference and did nothing else");
}

#[tokio::test]
async fn lists_show_an_organisation_its_own_things_only() {
    let (mine, theirs) = (env().open_merchant().await, env().open_merchant().await);
    let things = Things::of(&theirs).await;
    // Ids are numbers of one kind each: the account of one organisation may have the number of a purchase of another.
    for path in ["/public/v1/accounts", "/public/v1/vas-products", "/public/v1/events"] {
        let listed = mine.get(path).await.expect(200);
        assert!(!listed.text.contains(&format!("\"id\":{},", things.account)), "{path}: {}", listed.text);
    }
    let path = "/public/v1/events?types=purchase.succeeded";
    for path in ["/public/v1/purchases", path, "/public/v1/webhook-endpoints"] {
        let [listed, of_theirs] = [mine.get(path).await.expect(200), theirs.get(path).await.expect(200)];
        let count = |list: &Value| list.as_array().or(list["data"].as_array()).map(Vec::len);
        assert_eq!(count(&listed.body), Some(0), "{path}: {}", listed.text);
        assert!(count(&of_theirs.body) > Some(0), "{path}: {}", of_theirs.text);
    }
}

#[tokio::test]
async fn a_report_has_the_sales_of_its_own_organisation_only() {
    let (mine, theirs) = (env().open_merchant().await, env().open_merchant().await);
    Things::of(&theirs).await;
    let path = format!("/public/v1/reports/sales?from={}", today());
    assert_eq!(mine.get(&path).await.expect(200).body["data"], Value::Array(Vec::new()));
    assert_eq!(theirs.get(&path).await.expect(200).body["data"][0]["count"], 2);
}

#[tokio::test]
async fn an_idempotency_key_of_another_organisation_is_free_here() {
    let (mine, theirs) = (env().open_merchant().await, env().open_merchant().await);
    let mut bought = Vec::new();
    for merchant in [&theirs, &mine] {
        let order = merchant.order(&env().meter()).body();
        let key = [("Idempotency-Key", "till-1")];
        let answer = merchant.send(reqwest::Method::POST, Endpoint::Confirm.path(), Some(&order), &key).await;
        bought.push(answer.expect(200).id());
    }
    assert_ne!(bought[0], bought[1]);
}

impl Things {
    async fn of(merchant: &Merchant) -> Self {
        let meter = env().meter();
        let order = merchant.order(&meter).reference("theirs-1");
        let bought = merchant.confirm(&order).await.expect(200);
        merchant.confirm(&order).await.expect(200);
        let page = merchant.get("/public/v1/purchases?limit=1").await.expect(200);
        let statement =
            format!("/public/v1/accounts/{}/statement?limit=1&from={}", merchant.account, today());
        let statement = merchant.get(&statement).await.expect(200);
        let webhook_endpoint =
            webhooks::create(merchant, &json!({"url": "https://theirs.example/"})).await.expect(200);
        let batch = batches::batch(merchant, "theirs", &[env().meter()]);
        let batch = batches::create(merchant, &batch).await.expect(200);
        Self {
            batch: batch.id(),
            webhook_endpoint: webhook_endpoint.id(),
            account: merchant.account.to_string(),
            purchase: bought.id().to_string(),
            meter,
            cursor: page.str("/next_cursor").to_owned(),
            statement_cursor: statement.str("/next_cursor").to_owned(),
            event_cursor: merchant.get("/public/v1/events").await.expect(200).str("/next_cursor").to_owned(),
        }
    }

    /// Requests the other organisation's data as this merchant.
    async fn ask(&self, merchant: &Merchant, endpoint: Endpoint, name: &str) {
        match (endpoint, name) {
            (Endpoint::Account, "id") => {
                self.finds_nothing(merchant, &format!("accounts/{}", self.account)).await;
            }
            (Endpoint::Purchase, "id") => {
                self.finds_nothing(merchant, &format!("purchases/{}", self.purchase)).await;
            }
            (Endpoint::Message, "id") => {
                let refused = send_again(merchant, self.purchase.parse().unwrap(), "{}").await;
                assert_eq!(refused.refusal(), (404, "resource_not_found", None));
            }
            (Endpoint::LookUp, "id") => {
                let path = format!("/public/v1/subscribers/{}/purchases", self.meter);
                let found = merchant.get(&path).await.expect(200);
                assert_eq!(found.body["data"], Value::Array(Vec::new()));
            }
            (Endpoint::Certificate, "id") => {
                self.finds_nothing(merchant, &format!("purchases/{}/certificate", self.purchase)).await;
            }
            (Endpoint::Receipt, "id") => {
                for rest in ["", "?format=pdf"] {
                    self.finds_nothing(merchant, &format!("purchases/{}/receipt{rest}", self.purchase)).await;
                }
            }
            (Endpoint::Statement, "id") => {
                for rest in ["", "?format=csv", "?format=camt.053"] {
                    self.finds_nothing(merchant, &format!("accounts/{}/statement{rest}", self.account)).await;
                }
            }
            (Endpoint::Webhooks(call), name) => self.ask_for_webhooks(merchant, call, name).await,
            (Endpoint::Batches(call), name) => self.ask_for_batches(merchant, call, name).await,
            // A cursor belongs to one account. That account is refused by its path, and another one by the cursor.
            (Endpoint::Statement, "cursor") => {
                let rest = format!("statement?cursor={}", self.statement_cursor);
                self.finds_nothing(merchant, &format!("accounts/{}/{rest}", self.account)).await;
                let mine = format!("/public/v1/accounts/{}/{rest}", merchant.account);
                assert_eq!(merchant.get(&mine).await.refusal(), (400, "invalid_argument", Some("cursor")));
            }
            (Endpoint::Validate | Endpoint::Confirm, "debited_account_id") => {
                let order = merchant.order(&env().meter()).with(name, &self.account);
                let refused = merchant.post(endpoint.path(), &order.body()).await;
                assert_eq!(refused.refusal(), (404, "resource_not_found", Some(name)));
            }
            // An organisation may use any reference and any meter, so these names alone give no access.
            (Endpoint::Validate | Endpoint::Confirm, "external_reference" | "subscriber_identifier") => {}
            (Endpoint::Retry, "external_reference" | "subscriber_identifier") => {
                let asked =
                    merchant.post(endpoint.path(), &RequestBody::retry(&self.meter, "theirs-1").body()).await;
                assert_eq!(asked.refusal(), (404, "transaction_not_found", None));
            }
            (Endpoint::Purchases, "external_reference") => {
                self.is_empty(merchant, "external_reference=theirs-1").await;
            }
            (Endpoint::Purchases, "subscriber_identifier") => {
                self.is_empty(merchant, &format!("subscriber_identifier={}", self.meter)).await;
            }
            (Endpoint::Purchases, "cursor") => {
                self.is_empty(merchant, &format!("cursor={}", self.cursor)).await;
            }
            // A cursor is a position among the events of all organisations, and shows only one's own.
            (Endpoint::Events, "cursor") => {
                let read = merchant
                    .get(&format!("/public/v1/events?cursor={}", self.event_cursor))
                    .await
                    .expect(200);
                assert!(!read.text.contains(&self.meter), "{}", read.text);
            }
            (endpoint, name) => panic!("which data does {name} refer to at {}?", endpoint.path()),
        }
    }

    async fn ask_for_webhooks(&self, merchant: &Merchant, call: WebhookCall, name: &str) {
        let path = Endpoint::Webhooks(call).path().replace("{id}", &self.webhook_endpoint.to_string());
        match (call, name) {
            (WebhookCall::One | WebhookCall::Attempts, "id") => {
                self.finds_nothing(merchant, path.trim_start_matches("/public/v1/")).await;
            }
            // The log of attempts is that of the endpoint in the path, and so are the events that are sent again.
            (WebhookCall::Attempts, "cursor")
            | (WebhookCall::Redeliver, "event_id" | "from_event_id" | "to_event_id") => {}
            (_, "id") => {
                let body = r#"{"status":"PAUSED","event_id":"evt_1_1"}"#;
                let refused = merchant.post(&path, body).await;
                assert_eq!(refused.refusal(), (404, "resource_not_found", None), "{path}");
            }
            (_, name) => panic!("which data does {name} refer to at {path}?"),
        }
    }

    async fn ask_for_batches(&self, merchant: &Merchant, call: BatchCall, name: &str) {
        let path = Endpoint::Batches(call).path().replace("{id}", &self.batch.to_string());
        match (call, name) {
            (BatchCall::One | BatchCall::Lines, "id") => {
                self.finds_nothing(merchant, path.trim_start_matches("/public/v1/")).await;
            }
            (_, "id") => {
                let refused = merchant.post(&path, "{}").await;
                assert_eq!(refused.refusal(), (404, "resource_not_found", None), "{path}");
            }
            // A cursor is a number among the batches of all organisations, and shows only one's own.
            (BatchCall::List, "cursor") => {
                let read = merchant.get(&format!("{path}?cursor={}", self.batch + 1)).await.expect(200);
                assert_eq!(read.body["data"], Value::Array(Vec::new()));
            }
            (BatchCall::Create, "debited_account_id") => {
                let mut body = batches::batch(merchant, "mine", &[env().meter()]);
                body[name] = json!(self.account.parse::<i64>().unwrap());
                let refused = batches::create(merchant, &body).await;
                assert_eq!(refused.refusal(), (404, "resource_not_found", Some(name)));
            }
            // The cursor of the lines belongs to the batch in the path. An organisation may use any reference, so the name
            // alone gives no access. Its lines are its own.
            (BatchCall::Lines, "cursor") | (BatchCall::Create, "reference" | "lines") => {}
            (_, name) => panic!("which data does {name} refer to at {path}?"),
        }
    }

    async fn finds_nothing(&self, merchant: &Merchant, path: &str) {
        let answer = merchant.get(&format!("/public/v1/{path}")).await;
        assert_eq!(answer.refusal(), (404, "resource_not_found", None), "{path}");
    }

    async fn is_empty(&self, merchant: &Merchant, query: &str) {
        let page = merchant.get(&format!("/public/v1/purchases?{query}")).await.expect(200);
        assert_eq!(page.body["data"], Value::Array(Vec::new()), "{query}");
    }
}

/// Every documented parameter and body field of an endpoint's operation.
fn names_in_requests(document: &Value, endpoint: Endpoint) -> Vec<String> {
    let method = endpoint.method().as_str().to_lowercase();
    let operation = &document["paths"][endpoint.path()][method.as_str()];
    assert!(operation.is_object(), "{} is not documented", endpoint.path());
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let parameters =
        parameters.map(|parameter| resolved(document, parameter)["name"].as_str().unwrap().to_owned());
    let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
    let properties = resolved(document, schema)["properties"].as_object().cloned().unwrap_or_default();
    let names: BTreeSet<String> = parameters.chain(properties.into_iter().map(|(name, _)| name)).collect();
    names.into_iter().collect()
}

fn resolved<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    let target = value["$ref"].as_str().and_then(|path| document.pointer(path.trim_start_matches('#')));
    target.unwrap_or(value)
}
