//! The tokens of a vend, in the order in which the meter needs them.

use meter_token::{DescribedToken, MeterToken, TokenSet, TypicalDescription};

use crate::reply::{KeyChange, SaleReply};

/// The number of digits of an STS token (IEC 62055-41).
const DIGITS: usize = 20;

/// The tokens of a success are incomplete or invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BadTokens;

/// The key-change tokens, followed by the credit tokens, each with the gateway's own description. `Ok(None)` if the
/// reply issues no token. An error if a key change is incomplete or comes without credit.
pub(crate) fn tokens(reply: &SaleReply) -> Result<Option<TokenSet>, BadTokens> {
    in_order(reply, is_real)
}

/// The same for a trial vend, whose tokens must be dummies.
pub(crate) fn dummies(reply: &SaleReply) -> Result<Option<TokenSet>, BadTokens> {
    in_order(reply, is_dummy)
}

/// Whether any token in the reply has a character other than zero, independent of all other errors.
pub(crate) fn holds_more_than_dummies(reply: &SaleReply) -> bool {
    reply.issues().any(|(issue, change)| {
        let key_change = change.into_iter().flat_map(|change| [&change.first, &change.second]);
        key_change.chain([&issue.token]).flatten().any(|token| !is_dummy(&digits(token)))
    })
}

fn in_order(reply: &SaleReply, accepted: fn(&str) -> bool) -> Result<Option<TokenSet>, BadTokens> {
    let mut key_change = Vec::new();
    let mut credit = Vec::new();
    for (issue, change) in reply.issues() {
        if let Some(change) = change {
            key_change.extend(key_change_tokens(change, accepted)?);
        }
        if let Some(token) = &issue.token {
            credit.push(described(
                issue.description.as_deref(),
                TypicalDescription::Credit,
                token,
                accepted,
            )?);
        }
    }
    match (key_change.is_empty(), credit.is_empty()) {
        (true, true) => Ok(None),
        (false, true) => Err(BadTokens),
        (_, false) => {
            key_change.extend(credit);
            TokenSet::in_order(key_change).map(Some).map_err(|_no_tokens| BadTokens)
        }
    }
}

/// XMLVend has one description for both halves of a key change. Only their order distinguishes them.
fn key_change_tokens(
    change: &KeyChange,
    accepted: fn(&str) -> bool,
) -> Result<[DescribedToken; 2], BadTokens> {
    let issued = change.description.as_deref();
    match (&change.first, &change.second) {
        (Some(first), Some(second)) => Ok([
            described(issued, TypicalDescription::FirstKeyChange, first, accepted)?,
            described(issued, TypicalDescription::SecondKeyChange, second, accepted)?,
        ]),
        (Some(_) | None, Some(_) | None) => Err(BadTokens),
    }
}

fn described(
    issued: Option<&str>,
    typical: TypicalDescription,
    token: &MeterToken,
    accepted: fn(&str) -> bool,
) -> Result<DescribedToken, BadTokens> {
    let digits = digits(token);
    if !accepted(&digits) {
        return Err(BadTokens);
    }
    let token = MeterToken::parse(&digits).map_err(|_not_a_token| BadTokens)?;
    Ok(DescribedToken::issued(issued, typical, token))
}

/// The token without the separators of its groups.
fn digits(token: &MeterToken) -> String {
    token.expose().chars().filter(|c| !matches!(c, ' ' | '-')).collect()
}

/// Whether the token has twenty digits and is not the dummy of a trial vend.
fn is_real(digits: &str) -> bool {
    digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit()) && !is_dummy(digits)
}

/// Whether the token has only zeros, in any number: the standard says sixteen in one place and twenty in another.
fn is_dummy(digits: &str) -> bool {
    !digits.is_empty() && digits.bytes().all(|byte| byte == b'0')
}
