//! The OpenAPI document is true for every endpoint.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use error_codes::ErrorCode;
use http_v1::{
    Endpoint,
    requests::{batch_of_json, login_request, purchase_request, refresh_request, retry_question},
};
use identity::Permission;
use web::{ApiError, ClientHeader, Fields};

pub fn document() -> Value {
    serde_json::from_str(&openapi_v1::document("https://api.example.com").to_json().unwrap()).unwrap()
}

fn operation(document: &Value, endpoint: Endpoint) -> Value {
    document["paths"][endpoint.path()][endpoint.method().as_str().to_lowercase()].clone()
}

fn schema<'a>(document: &'a Value, name: &str) -> &'a Value {
    &document["components"]["schemas"][name]
}

fn names(object: &Value) -> BTreeSet<String> {
    object.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
}

fn listed(array: &Value) -> BTreeSet<String> {
    array.as_array().into_iter().flatten().map(|name| name.as_str().unwrap().to_owned()).collect()
}

/// The part of the document to which a reference leads, or the value itself.
fn resolved<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    let Some(reference) = value["$ref"].as_str() else { return value };
    document.pointer(reference.trim_start_matches('#')).unwrap()
}

type Reader = fn(&Fields) -> Result<(), ApiError>;

/// The bodies by the names of their schemas, with what reads them.
fn bodies() -> [(&'static str, Value, Reader); 5] {
    let document = document();
    let example = |name| schema(&document, name)["examples"][0].clone();
    [
        ("LoginRequest", example("LoginRequest"), |fields| login_request(fields).map(drop)),
        ("RefreshRequest", example("RefreshRequest"), |fields| refresh_request(fields, &bearer()).map(drop)),
        ("PurchaseRequest", example("PurchaseRequest"), |fields| purchase_request(fields).map(drop)),
        ("RetryRequest", example("RetryRequest"), |fields| retry_question(fields).map(drop)),
        ("BatchRequest", example("BatchRequest"), |fields| {
            batch_of_json(fields)?.lines.into_iter().try_for_each(|line| line.map(drop))
        }),
    ]
}

/// The proof of a client that sends no secret.
fn bearer() -> ClientHeader {
    ClientHeader::Bearer("vg_test_at_x".to_owned())
}

fn code_answered(body: &Value, read: Reader) -> Option<&'static str> {
    Fields::parse(body.to_string().as_bytes())
        .and_then(|fields| read(&fields))
        .err()
        .map(|error| error.code().as_str())
}

#[test]
fn every_code_has_an_endpoint_and_every_endpoint_has_the_common_codes() {
    for code in ErrorCode::ALL {
        assert!(Endpoint::ALL.into_iter().any(|endpoint| endpoint.codes().contains(&code)), "{code}");
    }
    for endpoint in Endpoint::ALL {
        for code in [ErrorCode::InvalidCredentials, ErrorCode::MethodNotAllowed, ErrorCode::RateLimited] {
            assert!(endpoint.codes().contains(&code), "{endpoint:?} {code}");
        }
        // A viewer may do everything else.
        let is_closed_to_viewers =
            matches!(endpoint, Endpoint::Confirm | Endpoint::Retry | Endpoint::LookUp | Endpoint::Message)
                || [Permission::WebhooksManage, Permission::BatchesManage]
                    .into_iter()
                    .any(|manages| endpoint.permission() == Some(manages));
        let is_lacking = endpoint.codes().contains(&ErrorCode::MissingPermission);
        assert_eq!(is_lacking, is_closed_to_viewers, "{endpoint:?}");
    }
}

#[test]
fn every_endpoint_is_described_with_the_statuses_of_its_codes_and_no_other() {
    let document = document();
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["servers"][0]["url"], "https://api.example.com");
    assert_eq!(names(&document["paths"]).len(), Endpoint::ALL.len());
    for endpoint in Endpoint::ALL {
        let operation = operation(&document, endpoint);
        let mut statuses: BTreeSet<String> =
            endpoint.codes().into_iter().map(|code| endpoint.status(code).to_string()).collect();
        statuses.insert("200".to_owned());
        assert_eq!(names(&operation["responses"]), statuses, "{endpoint:?}");
        let needs_token = operation["security"] == json!([{"access_token": []}]);
        assert_eq!(operation["security"] == json!([]), endpoint == Endpoint::Login, "stated: {endpoint:?}");
        assert_eq!(needs_token, !matches!(endpoint, Endpoint::Login | Endpoint::Refresh), "{endpoint:?}");
    }
}

#[test]
fn every_answer_names_its_codes_and_its_headers() {
    let document = document();
    for endpoint in Endpoint::ALL {
        let operation = operation(&document, endpoint);
        for (status, answer) in operation["responses"].as_object().unwrap() {
            assert!(names(&answer["headers"]).contains("X-Request-Id"), "{endpoint:?} {status}");
            if status == "200" {
                continue;
            }
            let of = resolved(&document, &answer["content"]["application/json"]["schema"]);
            let narrowed = &of["properties"]["error"]["allOf"][1];
            let limited = ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"];
            assert!(
                limited.iter().all(|name| names(&answer["headers"]).contains(*name)),
                "{endpoint:?} {status}"
            );
            let expected: BTreeSet<String> = endpoint
                .codes()
                .into_iter()
                .filter(|code| endpoint.status(*code).to_string() == *status)
                .map(|code| code.as_str().to_owned())
                .collect();
            assert_eq!(listed(&narrowed["properties"]["code"]["enum"]), expected, "{endpoint:?} {status}");
        }
        assert!(names(&operation["responses"]["429"]["headers"]).contains("Retry-After"));
        assert!(names(&operation["responses"]["401"]["headers"]).contains("WWW-Authenticate"));
        assert!(names(&operation["responses"]["400"]["headers"]).contains("Allow"));
    }
}

#[test]
fn the_documented_query_parameters_are_those_that_are_not_refused() {
    let document = document();
    for endpoint in Endpoint::ALL {
        let parameters = operation(&document, endpoint)["parameters"].clone();
        let in_query = parameters.as_array().into_iter().flatten().filter(|one| one["in"] == "query");
        let documented: BTreeSet<&str> = in_query.map(|one| one["name"].as_str().unwrap()).collect();
        let known: BTreeSet<&str> = endpoint.query_parameters().iter().copied().collect();
        assert_eq!(documented, known, "{endpoint:?}");
    }
}

#[test]
fn every_reference_in_the_document_leads_somewhere() {
    fn references(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(members) => {
                found.extend(members.get("$ref").and_then(Value::as_str).map(ToOwned::to_owned));
                members.values().for_each(|member| references(member, found));
            }
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let document = document();
    let mut found = BTreeSet::new();
    references(&document, &mut found);
    assert!(found.len() > 20);
    for reference in found {
        assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
    }
}

#[test]
fn the_examples_of_bodies_are_read_as_they_stand() {
    for (name, example, read) in bodies() {
        assert_eq!(code_answered(&example, read), None, "{name}");
    }
}

#[test]
fn what_is_required_in_the_document_is_required_and_nothing_else_is() {
    let document = document();
    for (name, example, read) in bodies() {
        let schema = schema(&document, name);
        let required = listed(&schema["required"]);
        for field in names(&schema["properties"]) {
            for absent in [None, Some(Value::Null)] {
                let mut body = example.clone();
                body.as_object_mut().unwrap().remove(&field);
                if let Some(null) = absent {
                    body[&field] = null;
                }
                let expected = required.contains(&field).then_some("missing_field");
                assert_eq!(code_answered(&body, read), expected, "{name} {field}");
            }
        }
    }
}

#[test]
fn a_text_of_the_documented_length_is_read_and_one_longer_is_refused() {
    let document = document();
    for (name, example, read) in bodies() {
        for (field, of) in schema(&document, name)["properties"].as_object().unwrap() {
            let Some(max) = of["maxLength"].as_u64().and_then(|max| usize::try_from(max).ok()) else {
                continue;
            };
            let mut body = example.clone();
            body[field] = json!("1".repeat(max + 1));
            assert!(code_answered(&body, read).is_some(), "{name} {field}");
            if !["language", "beneficiary_phone_number"].contains(&field.as_str()) {
                body[field] = json!("1".repeat(max));
                assert_eq!(code_answered(&body, read), None, "{name} {field}");
            }
        }
    }
}

#[test]
fn the_documented_pattern_of_a_language_tag_is_what_is_read() {
    let document = document();
    let (name, example, read) = bodies().into_iter().find(|(name, ..)| *name == "RetryRequest").unwrap();
    let pattern = schema(&document, name)["properties"]["language"]["pattern"].as_str().unwrap();
    let pattern = regex::Regex::new(pattern).unwrap();
    let agree = |tag: &str| {
        let mut body = example.clone();
        body["language"] = json!(tag);
        (pattern.is_match(tag), code_answered(&body, read).is_none())
    };
    for tag in [
        "en-BW",
        "fr_CM",
        "en-US-u-hc-h12",
        "x-whatever-1",
        "i-klingon",
        "I_Klingon",
        "en-GB-oed",
        "sgn-BE-FR",
        "zh-min-nan",
        "zh-cmn-Hans-CN",
        "pt-Latn-MZ-1990-a-bbb-u-nu-latn-x-a",
        "en-a-bbb-a-ccc",
        "abcd",
        "es-419",
    ] {
        assert_eq!(agree(tag), (true, true), "{tag}");
    }
    for tag in [
        "e",
        "x",
        "en-",
        "en-u",
        "en--US",
        "i-nothing",
        "en-US-GB",
        "x-123456789",
        "en.US",
        "en-a-b",
        "abcdefghi",
    ] {
        assert_eq!(agree(tag), (false, false), "{tag}");
    }
    proptest::proptest!(|(tag in "[a-zA-Z0-9]{1,9}([-_][a-zA-Z0-9]{1,9}){0,5}|([a-z]{2}|x|i)(-[a-zA-Z0-9]{1,8}){0,6}")| {
        let (documented, accepted) = agree(&tag);
        proptest::prop_assert_eq!(documented, accepted, "{}", tag);
    });
}

#[test]
fn the_example_of_an_answer_has_what_its_schema_requires_and_nothing_unknown() {
    let document = document();
    for endpoint in Endpoint::ALL {
        let content =
            operation(&document, endpoint)["responses"]["200"]["content"]["application/json"].clone();
        let Some(example) = content["examples"].as_object().and_then(|named| named.values().next()) else {
            continue;
        };
        let mut example = resolved(&document, example)["value"].clone();
        let mut of = content["schema"].clone();
        if of["type"] == "array" {
            (example, of) = (example[0].clone(), of["items"].clone());
        }
        let reference = of["$ref"].as_str().unwrap();
        let mut parts = vec![document.pointer(reference.trim_start_matches('#')).unwrap().clone()];
        if let Some(all) = parts[0].get("allOf").and_then(Value::as_array).cloned() {
            parts = all;
        }
        let parts: Vec<Value> = parts
            .into_iter()
            .map(|part| match part["$ref"].as_str() {
                Some(to) => document.pointer(to.trim_start_matches('#')).unwrap().clone(),
                None => part,
            })
            .collect();
        let known: BTreeSet<String> = parts.iter().flat_map(|part| names(&part["properties"])).collect();
        let required: BTreeSet<String> = parts.iter().flat_map(|part| listed(&part["required"])).collect();
        assert!(required.is_subset(&names(&example)), "{endpoint:?} {example}");
        assert!(names(&example).is_subset(&known), "{endpoint:?} {example}");
    }
}

#[test]
fn confirm_and_retry_decide_about_money_after_each_of_their_codes_and_no_other() {
    for endpoint in Endpoint::ALL {
        let Some(_) = endpoint.money_call() else {
            assert_eq!(endpoint.decision_table(), "", "{endpoint:?}");
            continue;
        };
        let table = endpoint.decision_table();
        for code in ErrorCode::ALL {
            let declared = endpoint.codes().contains(&code);
            assert_eq!(endpoint.decision(code).is_some(), declared, "{endpoint:?} {code}");
            assert_eq!(table.contains(&format!("`{code}`")), declared, "{endpoint:?} {code}");
        }
    }
}

#[test]
fn the_document_says_what_to_do_after_each_code_as_the_table_does() {
    let document = document();
    for endpoint in [Endpoint::Confirm, Endpoint::Retry] {
        let operation = operation(&document, endpoint);
        assert!(operation["description"].as_str().unwrap().contains(&endpoint.decision_table()));
        for row in operation["x-decisions"].as_array().unwrap() {
            let code = ErrorCode::parse(row["code"].as_str().unwrap()).unwrap();
            let decision = endpoint.decision(code).unwrap();
            assert_eq!(
                (&row["money"], &row["action"]),
                (&json!(decision.money.as_str()), &json!(decision.action.as_str()))
            );
            let answer = &operation["responses"][row["status"].to_string()]["description"];
            assert!(answer.as_str().unwrap().contains(decision.action.sentence()), "{endpoint:?} {code}");
        }
        assert_eq!(operation["x-decisions"].as_array().unwrap().len(), endpoint.codes().len());
    }
}

/// The guide, with the decision tables of this version.
fn guide_with_the_tables(guide: &str) -> String {
    [Endpoint::Confirm, Endpoint::Retry].into_iter().fold(guide.to_owned(), |guide, endpoint| {
        let table = endpoint.decision_table();
        let begins = table.split('|').nth(1).unwrap();
        let (before, rest) = guide.split_once(&format!("|{begins}|")).unwrap();
        let after = rest.split_once("\n\n").unwrap().1;
        format!("{before}{table}\n{after}")
    })
}

const GUIDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/INTEGRATING.md");

#[test]
fn the_guide_has_the_decision_tables_of_the_code() {
    let guide = std::fs::read_to_string(GUIDE).unwrap();
    let command = "run `cargo test -p http-v1 --test http_v1 -- --ignored write_the_decision_tables`";
    assert!(guide == guide_with_the_tables(&guide), "{command}");
}

#[test]
#[ignore = "writes docs/INTEGRATING.md"]
fn write_the_decision_tables() {
    let guide = std::fs::read_to_string(GUIDE).unwrap();
    std::fs::write(GUIDE, guide_with_the_tables(&guide)).unwrap();
}

#[test]
fn every_example_of_an_error_is_in_the_document_once_and_named_after_its_code() {
    let document = document();
    for code in ErrorCode::ALL {
        let example = &document["components"]["examples"][code.as_str()]["value"]["error"];
        assert_eq!(example["code"], code.as_str());
    }
    for endpoint in Endpoint::ALL {
        for (status, answer) in operation(&document, endpoint)["responses"].as_object().unwrap() {
            let content = &answer["content"]["application/json"];
            assert!(content["example"].is_null(), "{endpoint:?} {status}");
            for example in content["examples"].as_object().into_iter().flatten() {
                assert!(example.1["$ref"].is_string(), "{endpoint:?} {status}");
            }
        }
    }
}

#[test]
fn generated_types_know_what_was_bought_why_it_failed_and_what_may_be_left_out() {
    let document = document();
    let product = schema(&document, "PurchasedProduct");
    assert_eq!(product["discriminator"]["propertyName"], "type");
    for (kind, to) in product["discriminator"]["mapping"].as_object().unwrap() {
        let block = document.pointer(to.as_str().unwrap().trim_start_matches('#')).unwrap();
        assert_eq!(block["properties"]["type"]["enum"], json!([kind]));
        assert_eq!(names(&block["properties"]).contains("token"), kind != "AIRTIME", "{kind}");
    }
    let codes = listed(&schema(&document, "FailureCode")["enum"]);
    for code in Endpoint::Retry.codes() {
        let fails = Endpoint::Retry.decision(code).unwrap().money == error_codes::Money::NotCharged;
        let fails = fails && code != ErrorCode::TransactionNotFound;
        assert_eq!(codes.contains(code.as_str()), fails, "{code}");
    }
    for (name, ..) in bodies() {
        for (field, of) in schema(&document, name)["properties"].as_object().unwrap() {
            assert!(of["default"].is_null(), "{name} {field}");
        }
    }
}
