//! Two answers, compared apart from their shape.

use std::collections::BTreeMap;

use acceptance::surface::Surface;

use crate::wire::Answer;

/// What differs between any two answers, or marks the surface. A connection is closed where a body was not read in time.
const OF_THE_ANSWER: [&str; 8] =
    ["date", "content-length", "connection", "x-request-id", "deprecation", "link", "recovery", "failure"];

/// What the versioned surface tells of a quote, and the frozen one does not (contract of the answer to validate).
const OF_A_VERSIONED_QUOTE: [&str; 9] = [
    "/reference",
    "/product/units",
    "/metadata/vat",
    "/metadata/levy",
    "/metadata/regulatory_fee",
    "/metadata/charge",
    "/metadata/cost",
    "/metadata/provider_subscriber_details",
    "/metadata/provider_transaction_identifier",
];

/// Of two shops, and of two purchases.
const OF_ONE_PURCHASE: [&str; 3] = ["/id", "/reference", "/metadata/provider_transaction_identifier"];

/// Where one surface looks among all products, and the other among electricity only, they have looked for different things.
const OF_ITS_OWN: &str = "transaction_not_found";

/// What is said of a channel that a surface has not.
const CHANNELS: [&str; 2] = ["WEB, SMART_APP, USSD, BATCH, POS", "WEB, SMART_APP, USSD, SMS_MO, BATCH"];

/// All that an answer says, by names that belong to neither surface.
type Said = BTreeMap<String, String>;

#[track_caller]
pub fn assert_same(what: &str, versioned: &Answer, current: &Answer) {
    assert_eq!(said(versioned), said(current), "{what}:\n{}\n{}", versioned.text, current.text);
}

fn said(answer: &Answer) -> Said {
    let mut said: Said = answer
        .headers
        .iter()
        .filter(|(name, _)| !OF_THE_ANSWER.contains(&name.as_str()))
        .map(|(name, value)| (format!("header {name}"), header(name.as_str(), value.to_str().unwrap())))
        .collect();
    said.insert("status".to_owned(), answer.status.to_string());
    said.insert("next step".to_owned(), format!("{:?}", answer.next_step()));
    if answer.status >= 400 {
        refused(answer, &mut said);
    } else {
        shown(answer, &mut said);
    }
    said
}

fn header(name: &str, value: &str) -> String {
    // How much is left depends on the moment.
    let is_of_the_moment = ["ratelimit-remaining", "ratelimit-reset", "retry-after"].contains(&name);
    if is_of_the_moment { "a number" } else { value }.to_owned()
}

fn refused(answer: &Answer, said: &mut Said) {
    let (_, code, field) = answer.refusal();
    let translated = |text: &str| {
        let text = text.replace(answer.surface.subscriber_field(), Surface::V1.subscriber_field());
        CHANNELS.into_iter().fold(text, |text, channels| text.replace(channels, "the channels"))
    };
    said.insert("code".to_owned(), code.to_owned());
    said.insert("field".to_owned(), field.map_or_else(|| "none".to_owned(), translated));
    let sentence = match code {
        OF_ITS_OWN => "each has its own".to_owned(),
        _other => translated(answer.sentence()),
    };
    said.insert("sentence".to_owned(), sentence);
}

fn shown(answer: &Answer, said: &mut Said) {
    let is_quote = answer.str("/status") == "ON_GOING";
    let is_of_versioned_quote = |place: &str| is_quote && OF_A_VERSIONED_QUOTE.contains(&place);
    for (place, value) in answer.surface.shown(&answer.body) {
        let told = match place {
            place if is_of_versioned_quote(place) && answer.surface == Surface::V1 => continue,
            place if OF_ONE_PURCHASE.contains(&place) => "there is one".to_owned(),
            "/product/token" => names_of_tokens(answer),
            "/operator" | "/requester" | "/payer" => party(value),
            _other => value.to_string(),
        };
        said.insert(place.to_owned(), told);
    }
}

/// How many, in which order, and of how many digits.
fn names_of_tokens(answer: &Answer) -> String {
    let tokens = answer.tokens();
    format!("{:?}", tokens.iter().map(|(name, digits)| (name, digits.len())).collect::<Vec<_>>())
}

/// Somebody of the one shop or of the other, whose numbers and codes differ.
fn party(value: &serde_json::Value) -> String {
    let mut party = value.clone();
    for own in ["id", "username"] {
        if let Some(own) = party.get_mut(own) {
            *own = if own.is_number() { "a number" } else { "a name" }.into();
        }
    }
    party.to_string()
}
