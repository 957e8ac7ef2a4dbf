//! Tokens in the form in which a customer types them into a meter: in order, in groups of digits, each with a label.

use messages::{Numbered, Phrase};
use meter_token::TokenSet;

use crate::plain::plain;

/// Longest label of a provider for a token, in characters.
const DESCRIPTION_MAX: usize = 20;

/// The lines that list the tokens. `say` translates a phrase.
pub(super) fn lines(tokens: &TokenSet, say: impl Fn(&Phrase<'_>) -> String) -> Vec<String> {
    let described = tokens.described();
    if let [(_, token)] = described.as_slice() {
        return vec![say(&Phrase::Token { token: &token.grouped() })];
    }
    let mut lines = vec![say(&Phrase::InOrder)];
    for (number, (description, token)) in (1..).zip(described) {
        let (number, token) = (format!("{number}"), token.grouped());
        let numbered = Numbered { number: &number, token: &token };
        lines.push(match Kind::of(description.unwrap_or_default()) {
            Kind::KeyChange => say(&Phrase::KeyChangeToken(numbered)),
            Kind::Credit => say(&Phrase::CreditToken(numbered)),
            Kind::Other(description) => say(&Phrase::OtherToken { description: &description, numbered }),
        });
    }
    lines
}

/// The use of a token, from the provider's label.
enum Kind {
    KeyChange,
    Credit,
    Other(String),
}

impl Kind {
    /// The labels of the specification, section 2.2, are translated. Others are quoted.
    fn of(description: &str) -> Self {
        if description.starts_with("KeyChange Token") {
            Self::KeyChange
        } else if description == "Credit Token" {
            Self::Credit
        } else {
            Self::Other(plain(description, DESCRIPTION_MAX))
        }
    }
}
