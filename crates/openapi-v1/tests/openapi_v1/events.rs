//! The forms that the OpenAPI document gives to events, in the feed and in webhooks.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use feed::EventType;

use crate::document::document;

/// The types of events that a schema knows. Each leads to a schema of that type.
fn types_of<'a>(document: &'a Value, schema: &str) -> BTreeSet<&'a str> {
    let schema = &document["components"]["schemas"][schema];
    assert_eq!(schema["discriminator"]["propertyName"], "type");
    let forms: BTreeSet<&str> =
        schema["oneOf"].as_array().unwrap().iter().map(|form| form["$ref"].as_str().unwrap()).collect();
    let mapping = schema["discriminator"]["mapping"].as_object().unwrap();
    for (kind, to) in mapping {
        let to = to.as_str().unwrap();
        let form = document.pointer(to.trim_start_matches('#')).unwrap();
        assert!(form["properties"]["type"]["enum"].as_array().unwrap().contains(&json!(kind)), "{kind}");
        assert!(forms.contains(to), "{kind}");
    }
    mapping.keys().map(String::as_str).collect()
}

#[test]
fn each_type_of_event_leads_to_its_own_form_and_a_delivery_may_be_a_test() {
    let document = document();
    let mut types: BTreeSet<&str> = EventType::ALL.into_iter().map(EventType::as_str).collect();
    assert_eq!(types_of(&document, "Event"), types);
    types.insert("webhook.test");
    assert_eq!(types_of(&document, "DeliveredEvent"), types);
    let delivery = &document["webhooks"]["event"]["post"];
    let body = &delivery["requestBody"]["content"]["application/json"]["schema"]["$ref"];
    assert_eq!(body, "#/components/schemas/DeliveredEvent");
    let headers = delivery["parameters"].as_array().unwrap().iter().map(|header| &header["name"]);
    assert_eq!(headers.collect::<Vec<_>>(), ["webhook-id", "webhook-timestamp", "webhook-signature"]);
}
