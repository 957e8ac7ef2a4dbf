//! Compares two answers independent of their form.

use std::collections::BTreeMap;

use acceptance::surface::Surface;

use crate::wire::Answer;

/// Headers that differ between any two answers, or that identify the surface. A connection is closed if a body was
/// not read in time.
const OF_THE_ANSWER: [&str; 8] =
    ["date", "content-length", "connection", "x-request-id", "deprecation", "link", "recovery", "failure"];

/// Fields of a quote that only the versioned surface shows (contract of the answer to validate).
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

/// Values that differ between two merchants or two purchases.
const OF_ONE_PURCHASE: [&str; 3] = ["/id", "/reference", "/metadata/provider_transaction_identifier"];

/// One surface searches all products and the other only electricity, so their messages differ for this code.
const OF_ITS_OWN: &str = "transaction_not_found";

/// The lists of channels in the messages of both surfaces.
const CHANNELS: [&str; 2] = ["WEB, SMART_APP, USSD, BATCH, POS", "WEB, SMART_APP, USSD, SMS_MO, BATCH"];

/// All content of an answer, by names that are independent of the surface.
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
    if answer.status < 400 && answer.surface == Surface::V1 {
        // Of a purchase that is pending, only the versioned surface says how long to wait.
        said.remove("header retry-after");
    }
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
    // The rest of a limit varies with time.
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
        _other => translated(&sentence_of_both(answer)),
    };
    said.insert("sentence".to_owned(), sentence);
}

/// The sentence of a refusal, in the words of both surfaces. Of an open purchase the frozen surface speaks in its old
/// words: to send the same request again.
pub fn sentence_of_both(answer: &Answer) -> String {
    let of_an_open_purchase = match answer.surface {
        Surface::V1 => "then call retry with the same subscriber and external reference.",
        Surface::Current => "is still being settled. Wait a little and send the same request again.",
    };
    let sentence = answer.sentence();
    if sentence.ends_with(of_an_open_purchase) { "a purchase is open" } else { sentence }.to_owned()
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

/// The number, order and length of the tokens.
fn names_of_tokens(answer: &Answer) -> String {
    let tokens = answer.tokens();
    format!("{:?}", tokens.iter().map(|(name, digits)| (name, digits.len())).collect::<Vec<_>>())
}

/// A user or organisation without the ids and codes that differ between the merchants.
fn party(value: &serde_json::Value) -> String {
    let mut party = value.clone();
    for own in ["id", "username"] {
        if let Some(own) = party.get_mut(own) {
            *own = if own.is_number() { "a number" } else { "a name" }.into();
        }
    }
    party.to_string()
}
