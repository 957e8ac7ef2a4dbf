//! The tokens of one vend, in the order in which the meter needs them.

use core::fmt;

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use alloc::{format, vec};

use crate::{MeterToken, MeterTokenError};

const BETWEEN_PAIRS: char = '|';
const BETWEEN_DESCRIPTION_AND_TOKEN: char = ':';

/// The maximum number of characters of a description: what XMLVend allows in its type `Msg`.
const DESCRIPTION_MAX: usize = 160;

/// A token with the provider's description.
#[derive(Clone, PartialEq, Eq)]
pub struct DescribedToken {
    description: String,
    token: MeterToken,
}

/// The typical descriptions, for tokens that the provider issued without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypicalDescription {
    /// The token that carries credit.
    Credit,
    /// The first token of a key change.
    FirstKeyChange,
    /// The second token of a key change.
    SecondKeyChange,
    /// The third token of a key change: a key of 128 bits takes four.
    ThirdKeyChange,
    /// The fourth token of a key change.
    FourthKeyChange,
}

impl TypicalDescription {
    /// The text of the description.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Credit => "Credit Token",
            Self::FirstKeyChange => "KeyChange Token1",
            Self::SecondKeyChange => "KeyChange Token2",
            Self::ThirdKeyChange => "KeyChange Token3",
            Self::FourthKeyChange => "KeyChange Token4",
        }
    }

    /// The description of this token of a key change, counted from 1. `None` beyond 4, which is as many as there are.
    pub const fn key_change(number: usize) -> Option<Self> {
        match number {
            1 => Some(Self::FirstKeyChange),
            2 => Some(Self::SecondKeyChange),
            3 => Some(Self::ThirdKeyChange),
            4 => Some(Self::FourthKeyChange),
            _ => None,
        }
    }
}

impl DescribedToken {
    /// A token that a provider issued, with the provider's own description.
    ///
    /// No description makes this fail, because the token must not be lost. Characters that the wire format cannot carry
    /// are replaced one for one: `:` by `;`, `|` by `/`, a control character by a blank. Surrounding blanks and
    /// everything after 160 characters are dropped. If nothing is left, the typical description is used.
    pub fn issued(description: Option<&str>, typical: TypicalDescription, token: MeterToken) -> Self {
        let representable: String =
            description.unwrap_or_default().trim().chars().map(representable).take(DESCRIPTION_MAX).collect();
        let description = match representable.trim() {
            "" => typical.as_str(),
            described => described,
        };
        Self { description: description.to_owned(), token }
    }

    /// A token with this description.
    ///
    /// # Errors
    /// [`MeterTokenError::BadDescription`] if the description is empty or contains `:`, `|` or a control character.
    pub fn new(description: &str, token: MeterToken) -> Result<Self, MeterTokenError> {
        let breaks_the_format =
            |c: char| c == BETWEEN_PAIRS || c == BETWEEN_DESCRIPTION_AND_TOKEN || c.is_control();
        let description = description.trim();
        if description.is_empty() || description.contains(breaks_the_format) {
            return Err(MeterTokenError::BadDescription);
        }
        Ok(Self { description: description.to_owned(), token })
    }

    /// As [`new`](Self::new), with the text of the token.
    pub fn parse(description: &str, token: &str) -> Result<Self, MeterTokenError> {
        Self::new(description, MeterToken::parse(token)?)
    }

    /// The provider's description, such as `Credit Token`.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The token itself.
    pub fn token(&self) -> &MeterToken {
        &self.token
    }
}

/// The character that replaces this one in a description on the wire.
fn representable(character: char) -> char {
    match character {
        BETWEEN_PAIRS => '/',
        BETWEEN_DESCRIPTION_AND_TOKEN => ';',
        control if control.is_control() => ' ',
        other => other,
    }
}

impl fmt::Debug for DescribedToken {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "DescribedToken({:?}, ***)", self.description)
    }
}

/// One or more tokens of one vend, in the order in which they are entered into the meter. A single token has no
/// description on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenSet(Tokens);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Tokens {
    Single(MeterToken),
    Several(Vec<DescribedToken>),
}

impl TokenSet {
    /// A set of one token. Its description is dropped.
    pub fn single(token: DescribedToken) -> Self {
        Self(Tokens::Single(token.token))
    }

    /// A set of these tokens, in this order. One token alone is the same as [`single`](Self::single).
    ///
    /// # Errors
    /// [`MeterTokenError::NoTokens`] if there is no token.
    pub fn in_order(mut tokens: Vec<DescribedToken>) -> Result<Self, MeterTokenError> {
        match tokens.len() {
            0 => Err(MeterTokenError::NoTokens),
            1 => Ok(Self::single(tokens.remove(0))),
            _ => Ok(Self(Tokens::Several(tokens))),
        }
    }

    /// Reads the wire form. If it contains a pipe, it is a list of pairs, and each pair is split at its first colon.
    pub fn parse(wire: &str) -> Result<Self, MeterTokenError> {
        if !wire.contains(BETWEEN_PAIRS) {
            return MeterToken::parse(wire).map(|token| Self(Tokens::Single(token)));
        }
        wire.split(BETWEEN_PAIRS)
            .map(|pair| {
                let (description, token) =
                    pair.split_once(BETWEEN_DESCRIPTION_AND_TOKEN).ok_or(MeterTokenError::NoColon)?;
                DescribedToken::parse(description, token)
            })
            .collect::<Result<Vec<_>, _>>()
            .and_then(Self::in_order)
    }

    /// The text form, which [`parse`](Self::parse) reads.
    pub fn wire_form(&self) -> String {
        match &self.0 {
            Tokens::Single(token) => token.expose().to_owned(),
            Tokens::Several(tokens) => {
                let pairs: Vec<String> = tokens
                    .iter()
                    .map(|pair| format!("{}: {}", pair.description, pair.token.expose()))
                    .collect();
                pairs.join("|")
            }
        }
    }

    /// The tokens in the order of entry. If there are several, each has its description.
    pub fn described(&self) -> Vec<(Option<&str>, &MeterToken)> {
        match &self.0 {
            Tokens::Single(token) => vec![(None, token)],
            Tokens::Several(tokens) => {
                tokens.iter().map(|pair| (Some(pair.description.as_str()), &pair.token)).collect()
            }
        }
    }

    /// The characters of each token without the blanks and hyphens that group them, in the order of entry. Two sets with the same tokens
    /// have the same, however they were written.
    pub fn ungrouped(&self) -> Vec<String> {
        let ungrouped = |token: &MeterToken| {
            token.expose().chars().filter(|character| !matches!(character, ' ' | '-')).collect()
        };
        self.tokens().into_iter().map(ungrouped).collect()
    }

    /// The tokens without descriptions, in the order of entry.
    pub fn tokens(&self) -> Vec<&MeterToken> {
        match &self.0 {
            Tokens::Single(token) => vec![token],
            Tokens::Several(tokens) => tokens.iter().map(DescribedToken::token).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_same_tokens_are_the_same_however_they_are_grouped_and_described() {
        let ungrouped = |text: &str| TokenSet::parse(text).unwrap().ungrouped();
        assert_eq!(ungrouped("0808 6259"), ["08086259"]);
        assert_eq!(
            ungrouped("Key: 5019-3837|Credit: 0808-6259"),
            ungrouped("KCT1: 50193837|Sale: 0808 6259")
        );
        assert_ne!(ungrouped("08086259"), ungrouped("08086258"));
    }

    #[test]
    fn a_single_token_has_no_description_on_the_wire() {
        let set = TokenSet::single(DescribedToken::parse("Credit Token", "0808 6259").unwrap());
        assert_eq!(set.wire_form(), "0808 6259");
        assert_eq!(TokenSet::parse("0808 6259").unwrap(), set);
    }

    #[test]
    fn pairs_keep_their_order_and_their_descriptions() {
        let wire = "KeyChange Token1: 111|KeyChange Token2: 222|Credit Token: 333";
        let set = TokenSet::parse(wire).unwrap();
        assert_eq!(set.wire_form(), wire);
        let texts: Vec<&str> = set.tokens().into_iter().map(MeterToken::expose).collect();
        assert_eq!(texts, ["111", "222", "333"]);
        let words: Vec<Option<&str>> = set.described().into_iter().map(|(word, _)| word).collect();
        assert_eq!(words, [Some("KeyChange Token1"), Some("KeyChange Token2"), Some("Credit Token")]);
    }

    #[test]
    fn a_description_that_would_break_the_format_is_refused() {
        for description in ["", " ", "a|b", "a:b", "a\nb"] {
            assert_eq!(DescribedToken::parse(description, "1"), Err(MeterTokenError::BadDescription));
        }
    }

    fn issued(description: &str) -> DescribedToken {
        let token = MeterToken::parse("1234").unwrap();
        DescribedToken::issued(Some(description), TypicalDescription::Credit, token)
    }

    #[test]
    fn a_description_is_kept_exactly_as_it_was_issued() {
        for description in
            ["Key Change", "Normal  Sale (14%)", "Jeton de crédit n° 2", "KCT-1; 2/2", "\u{202e}x"]
        {
            assert_eq!(issued(description).description(), description);
        }
    }

    #[test]
    fn what_the_wire_format_cannot_carry_is_replaced_one_character_for_one() {
        for (as_issued, on_the_wire) in [
            ("Key change: part 1|2", "Key change; part 1/2"),
            ("Normal\r\nSale", "Normal  Sale"),
            ("\t Free units \n", "Free units"),
            ("::", ";;"),
        ] {
            assert_eq!(issued(as_issued).description(), on_the_wire);
        }
        assert_eq!(issued(&"é".repeat(161)).description(), "é".repeat(160));
    }

    #[test]
    fn a_token_without_a_description_gets_the_typical_one() {
        for blank in ["", " ", "\n", "\u{0}"] {
            assert_eq!(issued(blank).description(), "Credit Token");
        }
        let token = MeterToken::parse("1234").unwrap();
        let undescribed = DescribedToken::issued(None, TypicalDescription::SecondKeyChange, token);
        assert_eq!(undescribed.description(), "KeyChange Token2");
    }

    #[test]
    fn tokens_under_the_same_description_stay_apart_by_their_order() {
        let wire = "Key Change: 111|Key Change: 222|Normal Sale: 333";
        let set = TokenSet::parse(wire).unwrap();
        assert_eq!(set.wire_form(), wire);
        let texts: Vec<&str> = set.tokens().into_iter().map(MeterToken::expose).collect();
        assert_eq!(texts, ["111", "222", "333"]);
    }

    #[test]
    fn a_broken_wire_form_is_refused() {
        assert_eq!(TokenSet::parse("a: 1|b"), Err(MeterTokenError::NoColon));
        assert_eq!(TokenSet::parse("a: 1|"), Err(MeterTokenError::NoColon));
        assert_eq!(TokenSet::parse("a: 1|b: 2:3"), Err(MeterTokenError::BadCharacter));
        assert_eq!(TokenSet::in_order(Vec::new()), Err(MeterTokenError::NoTokens));
    }

    proptest! {
        #[test]
        fn the_wire_form_round_trips(pairs in prop::collection::vec(("[A-Za-z][A-Za-z0-9 ]{0,15}[A-Za-z0-9]", "[0-9]{20}"), 1..5)) {
            let described = pairs.iter().map(|(words, digits)| DescribedToken::parse(words, digits).unwrap()).collect();
            let set = TokenSet::in_order(described).unwrap();
            prop_assert_eq!(TokenSet::parse(&set.wire_form()).unwrap(), set);
        }

        #[test]
        fn whatever_the_descriptions_every_token_comes_out_of_the_wire_form(
            pairs in prop::collection::vec((".{0,20}", "[0-9]{20}"), 2..5),
        ) {
            let issued = |(description, digits): &(String, String)| {
                let token = MeterToken::parse(digits).unwrap();
                DescribedToken::issued(Some(description), TypicalDescription::Credit, token)
            };
            let set = TokenSet::in_order(pairs.iter().map(issued).collect()).unwrap();
            let wire = set.wire_form();
            prop_assert_eq!(TokenSet::parse(&wire).unwrap(), set);
            // A client reads it in this way.
            let read: Vec<&str> =
                wire.split('|').map(|pair| pair.split_once(':').unwrap().1.trim()).collect();
            let digits: Vec<&str> = pairs.iter().map(|(_, digits)| digits.as_str()).collect();
            prop_assert_eq!(read, digits);
        }

        #[test]
        fn any_text_is_read_without_panic(text in ".{0,200}") {
            let _outcome = TokenSet::parse(&text);
        }
    }
}
