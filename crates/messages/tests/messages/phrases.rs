//! Every phrase of a message has a text in every language, with every value of the phrase.

use std::collections::BTreeSet;

use messages::{Bought, Language, Messages, Numbered, Phrase};

const BOUGHT: Bought<'_> = Bought { product: "<product>", amount: "<amount>", subscriber: "<subscriber>" };
const NUMBERED: Numbered<'_> = Numbered { number: "<number>", token: "<token>" };

/// Each phrase with the values that its text must contain.
const PHRASES: [(Phrase<'_>, &[&str]); 18] = [
    (Phrase::Bought(BOUGHT), &["<product>", "<amount>", "<subscriber>"]),
    (Phrase::Token { token: "<token>" }, &["<token>"]),
    (Phrase::InOrder, &[]),
    (Phrase::KeyChangeToken(NUMBERED), &["<number>", "<token>"]),
    (Phrase::CreditToken(NUMBERED), &["<number>", "<token>"]),
    (
        Phrase::OtherToken { description: "<description>", numbered: NUMBERED },
        &["<description>", "<number>", "<token>"],
    ),
    (Phrase::Units { units: "<units>" }, &["<units>"]),
    (Phrase::Reference { reference: "<reference>" }, &["<reference>"]),
    (Phrase::NotDelivered(BOUGHT), &["<product>", "<amount>", "<subscriber>"]),
    (Phrase::Refunded { bought: BOUGHT, total: "<total>" }, &["<product>", "<subscriber>", "<total>"]),
    (Phrase::Receipt(BOUGHT), &["<product>", "<amount>", "<subscriber>"]),
    (Phrase::Paid { total: "<total>" }, &["<total>"]),
    (Phrase::PaidWithCharges { total: "<total>", charge: "<charge>" }, &["<total>", "<charge>"]),
    (Phrase::Customer { name: "<name>" }, &["<name>"]),
    (Phrase::ExternalReference { reference: "<reference>" }, &["<reference>"]),
    (Phrase::ProviderTransaction { transaction: "<transaction>" }, &["<transaction>"]),
    (Phrase::BoughtAt { at: "<at>" }, &["<at>"]),
    (Phrase::Automatic, &[]),
];

#[test]
fn every_phrase_is_said_in_every_language_with_its_values() {
    let messages = Messages::new();
    for language in Language::ALL {
        let mut said = BTreeSet::new();
        for (phrase, values) in &PHRASES {
            let text = messages.phrase(language, phrase);
            assert!(!text.contains(['{', '}', '$', '\n']), "{language:?}: {text}");
            for value in *values {
                assert!(text.contains(value), "{language:?}: {text} has no {value}");
            }
            assert!(said.insert(text.clone()), "{language:?}: {text} is said by two phrases");
        }
    }
}
