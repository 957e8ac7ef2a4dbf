//! Two organisations side by side: every endpoint, as the served document lists them, is walked with the numbers and
//! names of the other one's things, and finds nothing.

use std::collections::BTreeSet;

use http_v1::Endpoint;
use serde_json::Value;

use crate::{order::Order, shop::Shop, town::town};

/// What a request may say that names nothing of anybody's.
const NOBODYS: [&str; 33] = [
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
];

/// Something of the neighbour's, by the endpoint that it is asked for at and the name of the parameter or field.
struct Things {
    account: String,
    purchase: String,
    meter: String,
    cursor: String,
}

#[tokio::test]
async fn what_belongs_to_another_organisation_is_as_absent_as_what_never_was() {
    let (mine, theirs) = (town().open_shop().await, town().open_shop().await);
    let things = Things::of(&theirs).await;
    let document = mine.get("/public/v1/openapi.json").await.expect(200);
    let mut walked = 0;
    for endpoint in Endpoint::ALL {
        for name in names_in_requests(&document.body, endpoint) {
            if NOBODYS.contains(&name.as_str()) {
                continue;
            }
            things.ask(&mine, endpoint, &name).await;
            walked += 1;
        }
    }
    assert_eq!(walked, 13, "a name was added or taken away: is it somebody's?");
    assert_eq!(mine.rows(), "0|0|0|0|1", "retry closes its own reference, and nothing else has happened");
}

#[tokio::test]
async fn lists_show_an_organisation_its_own_things_only() {
    let (mine, theirs) = (town().open_shop().await, town().open_shop().await);
    let things = Things::of(&theirs).await;
    for path in ["/public/v1/accounts", "/public/v1/purchases", "/public/v1/vas-products"] {
        let listed = mine.get(path).await.expect(200);
        for thing in [&things.account, &things.purchase] {
            assert!(!listed.text.contains(&format!("\"id\":{thing},")), "{path}: {}", listed.text);
        }
    }
}

#[tokio::test]
async fn an_idempotency_key_of_another_organisation_is_free_here() {
    let (mine, theirs) = (town().open_shop().await, town().open_shop().await);
    let mut bought = Vec::new();
    for shop in [&theirs, &mine] {
        let order = shop.order(&town().meter()).body();
        let key = [("Idempotency-Key", "till-1")];
        let answer = shop.send(reqwest::Method::POST, Endpoint::Confirm.path(), Some(&order), &key).await;
        bought.push(answer.expect(200).id());
    }
    assert_ne!(bought[0], bought[1]);
}

impl Things {
    async fn of(shop: &Shop) -> Self {
        let meter = town().meter();
        let order = shop.order(&meter).reference("theirs-1");
        let bought = shop.confirm(&order).await.expect(200);
        shop.confirm(&order).await.expect(200);
        let page = shop.get("/public/v1/purchases?limit=1").await.expect(200);
        Self {
            account: shop.account.to_string(),
            purchase: bought.id().to_string(),
            meter,
            cursor: page.str("/next_cursor").to_owned(),
        }
    }

    /// Asks for it in somebody else's name.
    async fn ask(&self, shop: &Shop, endpoint: Endpoint, name: &str) {
        match (endpoint, name) {
            (Endpoint::Account, "id") => {
                self.finds_nothing(shop, &format!("accounts/{}", self.account)).await;
            }
            (Endpoint::Purchase, "id") => {
                self.finds_nothing(shop, &format!("purchases/{}", self.purchase)).await;
            }
            (Endpoint::Validate | Endpoint::Confirm, "debited_account_id") => {
                let order = shop.order(&town().meter()).with(name, &self.account);
                let refused = shop.post(endpoint.path(), &order.body()).await;
                assert_eq!(refused.refusal(), (404, "resource_not_found", Some(name)));
            }
            // One's own purchases may bear any reference and be for any meter: the names alone open nothing.
            (Endpoint::Validate | Endpoint::Confirm, "external_reference" | "subscriber_identifier") => {}
            (Endpoint::Retry, "external_reference" | "subscriber_identifier") => {
                let asked = shop.post(endpoint.path(), &Order::retry(&self.meter, "theirs-1").body()).await;
                assert_eq!(asked.refusal(), (404, "transaction_not_found", None));
            }
            (Endpoint::Purchases, "external_reference") => {
                self.is_empty(shop, "external_reference=theirs-1").await;
            }
            (Endpoint::Purchases, "subscriber_identifier") => {
                self.is_empty(shop, &format!("subscriber_identifier={}", self.meter)).await;
            }
            (Endpoint::Purchases, "cursor") => self.is_empty(shop, &format!("cursor={}", self.cursor)).await,
            (endpoint, name) => panic!("whose is {name} at {}?", endpoint.path()),
        }
    }

    async fn finds_nothing(&self, shop: &Shop, path: &str) {
        let answer = shop.get(&format!("/public/v1/{path}")).await;
        assert_eq!(answer.refusal(), (404, "resource_not_found", None), "{path}");
    }

    async fn is_empty(&self, shop: &Shop, query: &str) {
        let page = shop.get(&format!("/public/v1/purchases?{query}")).await.expect(200);
        assert_eq!(page.body["data"], Value::Array(Vec::new()), "{query}");
    }
}

/// Every parameter and every field of the body that an endpoint's operation documents.
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
