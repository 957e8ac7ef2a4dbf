//! Tokens as they are read off a phone and typed into a meter: in order, grouped, and each called what it is.

use messages::{Numbered, Phrase};
use meter_token::TokenSet;

use crate::plain::plain;

/// Longest word of a provider for a token, in letters.
const DESCRIPTION_MAX: usize = 20;

/// The lines that tell the tokens, said by `say`.
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

/// What a token is for, by the provider's word for it.
enum Kind {
    KeyChange,
    Credit,
    Other(String),
}

impl Kind {
    /// The words of the specification, section 2.2, are ours to translate. Others are repeated.
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
