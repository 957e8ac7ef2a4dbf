//! Every code, every detail and every product has a text in every language, with the same values in it.

use std::collections::{BTreeMap, BTreeSet};

use error_codes::ErrorCode;
use messages::{Detail, Language, Messages, Sentence};

/// Every value that any message may need.
const VALUES: [(&str, &str); 17] = [
    ("allowed", "WEB, POS"),
    ("charge", "BWP 2.00"),
    ("column", "7"),
    ("currency", "BWP"),
    ("field", "the_field"),
    ("gap", "BWP 5.00"),
    ("limit", "12"),
    ("line", "3"),
    ("lines", "20"),
    ("method", "PUT"),
    ("permission", "purchases.confirm"),
    ("prefix", "vendgate:"),
    ("provider", "BPC"),
    ("status", "FINISHED"),
    ("until", "2026-11-20 14:00:00"),
    ("wording", "Meter blocked by supplier"),
    ("wrong", "2"),
];

fn sentences() -> impl Iterator<Item = Sentence> {
    ErrorCode::ALL.into_iter().map(Sentence::from).chain(Detail::ALL.into_iter().map(Sentence::from))
}

#[test]
fn every_sentence_is_said_in_every_language_without_a_gap() {
    let messages = Messages::new();
    let mut said = BTreeMap::new();
    for language in Language::ALL {
        for sentence in sentences() {
            let text = messages.error(language, sentence, &VALUES);
            assert!(
                !text.contains(['{', '}', '$']) && text.ends_with('.'),
                "{language:?} {sentence:?}: {text}"
            );
            assert_ne!(text, sentence.code().meaning(), "{language:?} {sentence:?} has no text");
            if let Some(twin) = said.insert(text, (language, sentence)) {
                assert_eq!(twin, (language, sentence), "two sentences read the same");
            }
        }
    }
}

#[test]
fn a_sentence_holds_the_same_values_in_every_language() {
    let messages = Messages::new();
    let marked = VALUES.map(|(name, _)| (name, format!("<{name}>")));
    let values: Vec<(&str, &str)> = marked.iter().map(|(name, mark)| (*name, mark.as_str())).collect();
    for sentence in sentences() {
        let [english, french, portuguese] = Language::ALL.map(|language| -> BTreeSet<&str> {
            let text = messages.error(language, sentence, &values);
            values.iter().filter(|(_, mark)| text.contains(mark)).map(|(name, _)| *name).collect()
        });
        assert_eq!((&english, &english), (&french, &portuguese), "{sentence:?}");
    }
}

#[test]
fn a_value_that_is_missing_costs_the_detail_and_not_the_sense() {
    let messages = Messages::new();
    let text = messages.error(Language::English, Detail::TooLong.into(), &[("field", "comment")]);
    assert_eq!(text, "The value of comment is not acceptable. Correct it and send the request again.");
    let text = messages.error(Language::French, ErrorCode::InsufficientBalance.into(), &[]);
    assert_eq!(text, ErrorCode::InsufficientBalance.meaning());
}

#[test]
fn the_gap_is_told_when_the_balance_is_short() {
    let text = Messages::new().error(
        Language::English,
        ErrorCode::InsufficientBalance.into(),
        &[("gap", "BWP 42.50")],
    );
    assert_eq!(text, "The balance is short by BWP 42.50. Top up the account or buy for less.");
}

#[test]
fn the_wording_of_the_provider_follows_our_own() {
    let text = Messages::new().error_quoting(
        Language::Portuguese,
        ErrorCode::MeterNotFound.into(),
        &[],
        "Meter { $unknown }",
    );
    assert_eq!(
        text,
        "O fornecedor não conhece este contador. Verifique o número. O fornecedor indica: Meter { $unknown }"
    );
}

#[test]
fn a_refusal_without_a_reason_names_the_provider_in_every_language() {
    let messages = Messages::new();
    for language in Language::ALL {
        let sentence = ErrorCode::MeterBlocked.into();
        let ours = messages.error(language, sentence, &[]);
        let attributed = messages.error_refused_by(language, sentence, &[], "BPC");
        let rest = attributed.strip_prefix(&ours).unwrap();
        assert!(rest.starts_with(' ') && rest.contains("BPC") && rest.ends_with('.'), "{attributed}");
    }
}

#[test]
fn products_and_their_subscribers_have_a_name_in_every_language() {
    let messages = Messages::new();
    let names = |language| {
        ["ELECTRICITY", "AIRTIME", "WATER"].map(|product| {
            (
                messages.product_name(language, product).unwrap(),
                messages.subscriber_label(language, product).unwrap(),
            )
        })
    };
    assert_eq!(names(Language::English)[0], ("Electricity".to_owned(), "Meter number".to_owned()));
    assert_eq!(names(Language::French)[0], ("Électricité".to_owned(), "Numéro de compteur".to_owned()));
    assert_eq!(names(Language::Portuguese)[1].1, "Número de telefone");
    assert_eq!(messages.product_name(Language::English, "GAS"), None);
}

#[test]
fn the_length_of_an_identifier_is_told_in_every_language() {
    let messages = Messages::new();
    let told = |language| {
        [(Some(8), Some(8)), (Some(11), Some(13)), (Some(6), None), (None, Some(20)), (None, None)]
            .map(|(least, most)| messages.length_hint(language, least, most))
    };
    let texts = |texts: [&str; 4]| {
        let [exactly, between, at_least, at_most] = texts.map(|text| Some(text.to_owned()));
        [exactly, between, at_least, at_most, None]
    };
    assert_eq!(
        told(Language::English),
        texts(["8 characters", "11 to 13 characters", "At least 6 characters", "At most 20 characters"])
    );
    assert_eq!(
        told(Language::French),
        texts(["8 caractères", "11 à 13 caractères", "Au moins 6 caractères", "Au plus 20 caractères"])
    );
    assert_eq!(
        told(Language::Portuguese),
        texts(["8 caracteres", "11 a 13 caracteres", "Pelo menos 6 caracteres", "No máximo 20 caracteres"])
    );
}

#[test]
fn messages_are_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Messages>();
}
