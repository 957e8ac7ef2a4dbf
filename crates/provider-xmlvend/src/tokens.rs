//! The tokens of a vend, in the order in which the meter wants them.

use meter_token::{DescribedToken, MeterToken, TokenSet};

use crate::reply::{KeyChange, SaleReply};

/// Digits of an STS token (IEC 62055-41).
const DIGITS: usize = 20;

/// A success that does not hold what it owes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BadTokens;

/// Key-change tokens first, then credit; none where the reply issues none. A key change is worth nothing
/// in halves, and to a meter that then gets no credit.
pub(crate) fn tokens(reply: &SaleReply) -> Result<Option<TokenSet>, BadTokens> {
    let mut key_change = Vec::new();
    let mut credit = Vec::new();
    for (issue, change) in reply.issues() {
        if let Some(change) = change {
            key_change.extend(key_change_tokens(change)?);
        }
        if let Some(token) = &issue.token {
            credit.push(described("Credit Token", token)?);
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

fn key_change_tokens(change: &KeyChange) -> Result<[DescribedToken; 2], BadTokens> {
    match (&change.first, &change.second) {
        (Some(first), Some(second)) => {
            Ok([described("KeyChange Token1", first)?, described("KeyChange Token2", second)?])
        }
        (Some(_) | None, Some(_) | None) => Err(BadTokens),
    }
}

/// Twenty digits, grouped or not, and not the zeros that a trial vend returns.
fn described(description: &str, token: &MeterToken) -> Result<DescribedToken, BadTokens> {
    let digits: String = token.expose().chars().filter(|c| !matches!(c, ' ' | '-')).collect();
    let is_token = digits.len() == DIGITS
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && digits.bytes().any(|byte| byte != b'0');
    if !is_token {
        return Err(BadTokens);
    }
    DescribedToken::parse(description, &digits).map_err(|_not_a_token| BadTokens)
}
