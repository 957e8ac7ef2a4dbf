//! A collection for Postman (its format 2.1.0), made from the OpenAPI document and the list of endpoints.
//!
//! It can be run from its first request to its last: each request leaves what the next one needs in a variable.

use serde_json::{Map, Value, json};

use http_v1::{Access, BatchCall, Endpoint, WebhookCall};
use openapi_v1::Documented;
use web::Document;

/// Where the collection is.
pub(crate) const PATH: &str = "/docs/postman.json";

/// The JSON schema that Postman reads the collection by.
const SCHEMA: &str = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json";

/// The variables of the collection, with what they are before anything was sent.
const VARIABLES: [(&str, &str); 14] = [
    ("client_id", ""),
    ("client_secret", ""),
    ("identifier", ""),
    ("secret_pass", ""),
    ("org_code", ""),
    ("access_token", ""),
    ("refresh_token", ""),
    ("account_id", "1"),
    ("purchase_id", "1"),
    ("webhook_endpoint_id", "1"),
    ("batch_id", "1"),
    ("event_id", "evt_1_1"),
    ("meter", "07000010012"),
    ("external_reference", "postman-1"),
];

/// The members of bodies that are taken from a variable of another name.
const RENAMED: [(&str, &str); 2] = [("debited_account_id", "account_id"), ("subscriber_identifier", "meter")];

/// The collection of the server that integrators reach at `public_url`.
pub(crate) fn collection(public_url: &str) -> Document {
    let text = serde_json::to_vec(&made(public_url)).expect("texts always serialise");
    Document::new("application/json", text)
}

fn made(public_url: &str) -> Value {
    let document =
        serde_json::to_value(openapi_v1::document(public_url)).expect("texts and numbers always serialise");
    let mut folders: Vec<(&str, Vec<Value>)> = Vec::new();
    for endpoint in Endpoint::ALL {
        let group = endpoint.group();
        let request = item(endpoint, &document);
        match folders.iter_mut().find(|(name, _)| *name == group) {
            Some((_, items)) => items.push(request),
            None => folders.push((group, vec![request])),
        }
    }
    let folders: Vec<Value> =
        folders.into_iter().map(|(name, items)| json!({ "name": name, "item": items })).collect();
    let base_url = std::iter::once(("base_url", public_url));
    let variables: Vec<Value> =
        base_url.chain(VARIABLES).map(|(key, value)| json!({ "key": key, "value": value })).collect();
    json!({
        "info": { "name": "Vendgate", "description": INTRODUCTION, "schema": SCHEMA },
        "auth": { "type": "bearer", "bearer": [{ "key": "token", "value": "{{access_token}}", "type": "string" }] },
        "variable": variables,
        "item": folders,
    })
}

const INTRODUCTION: &str = "Fill in the five credentials among the variables, and send the requests from the top. Login keeps \
    the tokens, and each request keeps what later ones need. A confirm is a real sale: use the sandbox or staging.";

fn item(endpoint: Endpoint, document: &Value) -> Value {
    let operation = operation(endpoint, document);
    let mut request = json!({
        "method": endpoint.method().as_str(),
        "url": url(endpoint, operation),
        "description": operation.and_then(|found| found.get("description")).cloned().unwrap_or_default(),
        "header": [],
    });
    let parts = request.as_object_mut().expect("it was made as an object");
    if endpoint.access() == Access::WithCredentials {
        parts.insert("auth".to_owned(), json!({ "type": "noauth" }));
    }
    if let Some(example) = operation.and_then(|found| example_body(found, document)) {
        let raw = with_variables(example);
        parts.insert("header".to_owned(), json!([{ "key": "Content-Type", "value": "application/json" }]));
        parts.insert(
            "body".to_owned(),
            json!({ "mode": "raw", "raw": raw, "options": { "raw": { "language": "json" } } }),
        );
    }
    let mut item = json!({ "name": endpoint.summary(), "request": request });
    let events: Vec<Value> = scripts(endpoint)
        .into_iter()
        .map(|(listen, line)| json!({ "listen": listen, "script": { "type": "text/javascript", "exec": [line] } }))
        .collect();
    if let Some(parts) = item.as_object_mut().filter(|_item| !events.is_empty()) {
        parts.insert("event".to_owned(), Value::Array(events));
    }
    item
}

fn operation(endpoint: Endpoint, document: &Value) -> Option<&Value> {
    document.get("paths")?.get(endpoint.path())?.get(endpoint.method().as_str().to_lowercase())
}

/// Every filter is there and switched off, so that the request means the same as without it.
fn url(endpoint: Endpoint, operation: Option<&Value>) -> Value {
    let path: Vec<String> =
        endpoint.path().split('/').skip(1).map(|part| part.replace("{id}", ":id")).collect();
    let mut url = json!({
        "raw": format!("{{{{base_url}}}}/{}", path.join("/")),
        "host": ["{{base_url}}"],
        "path": path,
    });
    let parts = url.as_object_mut().expect("it was made as an object");
    if let Some(variable) = id_of(endpoint) {
        let value = format!("{{{{{variable}}}}}");
        parts.insert("variable".to_owned(), json!([{ "key": "id", "value": value }]));
    }
    let described = |name: &str| {
        let parameters = operation?.get("parameters")?.as_array()?;
        let is_it = |parameter: &&Value| parameter.get("name").and_then(Value::as_str) == Some(name);
        parameters.iter().find(is_it)?.get("description").cloned()
    };
    let query: Vec<Value> = endpoint
        .query_parameters()
        .iter()
        .map(|name| json!({ "key": name, "value": "", "disabled": true, "description": described(name) }))
        .collect();
    if !query.is_empty() {
        parts.insert("query".to_owned(), Value::Array(query));
    }
    url
}

/// The variable that the `{id}` of a path is taken from.
fn id_of(endpoint: Endpoint) -> Option<&'static str> {
    let begins = [
        ("/public/v1/accounts/", "account_id"),
        ("/public/v1/purchases/", "purchase_id"),
        ("/public/v1/subscribers/", "meter"),
        ("/public/v1/webhook-endpoints/", "webhook_endpoint_id"),
        ("/public/v1/batches/", "batch_id"),
    ];
    let path = endpoint.path();
    path.contains("{id}")
        .then(|| begins.into_iter().find(|(begin, _)| path.starts_with(begin)))?
        .map(|(_, name)| name)
}

/// The first example of the body's schema.
fn example_body<'a>(operation: &Value, document: &'a Value) -> Option<&'a Value> {
    let schema = operation.pointer("/requestBody/content/application~1json/schema/$ref")?.as_str()?;
    document.pointer(schema.strip_prefix('#')?)?.get("examples")?.get(0)
}

/// The body as text, with variables in the place of what each caller has of its own.
fn with_variables(example: &Value) -> String {
    let replaced = |(name, value): (&String, &Value)| {
        let renamed = RENAMED.into_iter().find(|(from, _)| from == name).map(|(_, to)| to);
        let own = VARIABLES.into_iter().find(|(key, _)| key == name).map(|(key, _)| key);
        let value =
            renamed.or(own).map_or_else(|| value.clone(), |key| Value::String(format!("{{{{{key}}}}}")));
        (name.clone(), value)
    };
    let members: Map<String, Value> = example.as_object().into_iter().flatten().map(replaced).collect();
    let text = serde_json::to_string_pretty(&members).expect("texts always serialise");
    // A number is written without quotes.
    text.replace("\"{{account_id}}\"", "{{account_id}}")
}

/// What Postman does before a request or after its answer.
fn scripts(endpoint: Endpoint) -> Vec<(&'static str, &'static str)> {
    match endpoint {
        Endpoint::Login | Endpoint::Refresh => vec![(
            "test",
            "if (pm.response.code === 200) for (const name of [\"access_token\", \"refresh_token\"]) \
             pm.collectionVariables.set(name, pm.response.json()[name]);",
        )],
        Endpoint::Accounts => vec![(
            "test",
            "if (pm.response.code === 200) pm.collectionVariables.set(\"account_id\", \
             pm.response.json().find(account => account.category === \"CURRENT\").id);",
        )],
        // A new sale has a new reference, and retry asks about it.
        Endpoint::Confirm => vec![
            ("prerequest", "pm.collectionVariables.set(\"external_reference\", \"postman-\" + Date.now());"),
            (
                "test",
                "if (pm.response.code === 200) pm.collectionVariables.set(\"purchase_id\", pm.response.json().id);",
            ),
        ],
        Endpoint::Events => vec![(
            "test",
            "if (pm.response.code === 200 && pm.response.json().data.length > 0) \
             pm.collectionVariables.set(\"event_id\", pm.response.json().data[0].id);",
        )],
        Endpoint::Webhooks(WebhookCall::Create) => vec![(
            "test",
            "if (pm.response.code === 200) pm.collectionVariables.set(\"webhook_endpoint_id\", pm.response.json().id);",
        )],
        Endpoint::Batches(BatchCall::Create) => vec![(
            "test",
            "if (pm.response.code === 200) pm.collectionVariables.set(\"batch_id\", pm.response.json().id);",
        )],
        Endpoint::Me
        | Endpoint::Account
        | Endpoint::Products
        | Endpoint::Validate
        | Endpoint::Retry
        | Endpoint::Purchases
        | Endpoint::Purchase
        | Endpoint::Statement
        | Endpoint::Sales
        | Endpoint::Receipt
        | Endpoint::Certificate
        | Endpoint::LookUp
        | Endpoint::Message
        | Endpoint::Webhooks(_)
        | Endpoint::Batches(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items() -> Vec<Value> {
        let folders = made("https://api.example.com");
        let folders = folders["item"].as_array().unwrap().clone();
        folders.iter().flat_map(|folder| folder["item"].as_array().unwrap().clone()).collect()
    }

    #[test]
    fn every_endpoint_is_one_request_of_the_collection() {
        let items = items();
        assert_eq!(items.len(), Endpoint::ALL.len());
        for endpoint in Endpoint::ALL {
            let raw = format!("{{{{base_url}}}}{}", endpoint.path().replace("{id}", ":id"));
            let is_it = |item: &&Value| {
                item["request"]["url"]["raw"] == raw
                    && item["request"]["method"] == endpoint.method().as_str()
            };
            let item = items.iter().find(is_it).unwrap_or_else(|| panic!("no {raw}"));
            assert_eq!(item["request"]["url"].get("variable").is_some(), raw.contains(":id"), "{raw}");
            assert_eq!(
                item["request"].get("body").is_some(),
                endpoint.method() == "POST" && has_body(endpoint),
                "{raw}"
            );
        }
    }

    /// Some calls are told everything by their path.
    fn has_body(endpoint: Endpoint) -> bool {
        !matches!(
            endpoint,
            Endpoint::Webhooks(WebhookCall::Delete | WebhookCall::Test)
                | Endpoint::Batches(BatchCall::Pause | BatchCall::Resume | BatchCall::Cancel)
        )
    }

    #[test]
    fn every_variable_of_the_collection_is_declared_and_every_body_is_json() {
        let collection = made("https://api.example.com").to_string();
        for used in collection.split("{{").skip(1).filter_map(|rest| rest.split("}}").next()) {
            assert!(used == "base_url" || VARIABLES.iter().any(|(key, _)| *key == used), "{used}");
        }
        for item in items() {
            if let Some(raw) = item["request"]["body"]["raw"].as_str() {
                let body = raw.replace("{{account_id}}", "1");
                assert!(serde_json::from_str::<Value>(&body).is_ok(), "{raw}");
            }
        }
    }
}
