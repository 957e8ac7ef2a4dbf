//! Tokens that belong together, in the order in which the meter wants them.

use std::fmt;

use crate::{MeterToken, MeterTokenError};

const BETWEEN_PAIRS: char = '|';
const BETWEEN_DESCRIPTION_AND_TOKEN: char = ':';

/// A token with the provider's word for it, kept exactly as issued.
#[derive(Clone, PartialEq, Eq)]
pub struct DescribedToken {
    description: String,
    token: MeterToken,
}

impl DescribedToken {
    /// The description may hold anything but the two separators of the wire format.
    pub fn new(description: &str, token: MeterToken) -> Result<Self, MeterTokenError> {
        let breaks_the_format =
            |c: char| c == BETWEEN_PAIRS || c == BETWEEN_DESCRIPTION_AND_TOKEN || c.is_control();
        let description = description.trim();
        if description.is_empty() || description.contains(breaks_the_format) {
            return Err(MeterTokenError::BadDescription);
        }
        Ok(Self { description: description.to_owned(), token })
    }

    /// As [`new`](Self::new), from the token's text.
    pub fn parse(description: &str, token: &str) -> Result<Self, MeterTokenError> {
        Self::new(description, MeterToken::parse(token)?)
    }

    /// The provider's word, such as `Credit Token`.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The token itself.
    pub fn token(&self) -> &MeterToken {
        &self.token
    }
}

impl fmt::Debug for DescribedToken {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "DescribedToken({:?}, ***)", self.description)
    }
}

/// One or more tokens of one vend, in the order in which they are entered into the meter. A vend of a
/// single token loses its description on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenSet(Tokens);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Tokens {
    Single(MeterToken),
    Several(Vec<DescribedToken>),
}

impl TokenSet {
    /// One token; what the provider called it is dropped (specification, section 2.2).
    pub fn single(token: DescribedToken) -> Self {
        Self(Tokens::Single(token.token))
    }

    /// These tokens, left to right. One alone is the same as [`single`](Self::single).
    pub fn in_order(mut tokens: Vec<DescribedToken>) -> Result<Self, MeterTokenError> {
        match tokens.len() {
            0 => Err(MeterTokenError::NoTokens),
            1 => Ok(Self::single(tokens.remove(0))),
            _ => Ok(Self(Tokens::Several(tokens))),
        }
    }

    /// Reads the wire form: a pipe means pairs, each split on its first colon.
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

    /// The string of `product.token` (versioned surface) and `token` (Current surface).
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

    /// The tokens in the order of entry, each with the provider's word for it where there are several.
    pub fn described(&self) -> Vec<(Option<&str>, &MeterToken)> {
        match &self.0 {
            Tokens::Single(token) => vec![(None, token)],
            Tokens::Several(tokens) => {
                tokens.iter().map(|pair| (Some(pair.description.as_str()), &pair.token)).collect()
            }
        }
    }

    /// The tokens alone, in the order of entry.
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
    fn a_single_token_goes_bare() {
        let set = TokenSet::single(DescribedToken::parse("Credit Token", "0808 6259").unwrap());
        assert_eq!(set.wire_form(), "0808 6259");
        assert_eq!(TokenSet::parse("0808 6259").unwrap(), set);
    }

    #[test]
    fn pairs_keep_their_order_and_their_words() {
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
        fn any_text_is_read_without_panic(text in ".{0,200}") {
            let _outcome = TokenSet::parse(&text);
        }
    }
}
