//! The tokens of a vend, in the order in which the meter needs them.
//!
//! The vendor writes a token with or without the word `Token` before it. It has fields of its own for the halves of a key
//! change (`kct1`, `kct2`) and for a bonus, and repeats the tokens in `purchased_code`. No document says when a reset or a
//! configuration token must be entered, and one of them could clear the credit. So an answer with such a token proves
//! nothing, and neither does one with a number in `purchased_code` that is none of its tokens.

use meter_token::{DescribedToken, MeterToken, TokenSet, TypicalDescription};

use crate::reply::Fields;

/// The number of digits of an STS token (IEC 62055-41).
const DIGITS: usize = 20;

/// Tokens whose place in the order of entry no document states.
const OF_UNKNOWN_ORDER: [&str; 2] = ["resetToken", "configureToken"];

/// The fields that have the credit token, each of some distribution companies.
const CREDIT: [&str; 3] = ["token", "Token", "mainToken"];

/// The description of a bonus without one.
const BONUS: &str = "Bonus Token";

/// The tokens of a success are missing, incomplete, contradictory or invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BadTokens;

/// The halves of a key change, the credit token, and the bonus.
pub(crate) fn tokens(fields: &Fields<'_>) -> Result<TokenSet, BadTokens> {
    if OF_UNKNOWN_ORDER.iter().any(|name| fields.text(&[name]).is_some()) {
        return Err(BadTokens);
    }
    let mut found = key_change(fields)?;
    let description = fields.text(&["mainTokenDescription"]);
    let credit = credit(fields)?;
    found.push(DescribedToken::issued(description.as_deref(), TypicalDescription::Credit, credit));
    if let Some(bonus) = fields.text(&["bonusToken"]) {
        let description = fields.text(&["bonusTokenDescription"]).unwrap_or_else(|| BONUS.to_owned());
        found.push(DescribedToken::issued(Some(&description), TypicalDescription::Credit, real(&bonus)?));
    }
    let is_told = |digits: &String| found.iter().any(|token| token.token().expose() == digits);
    if numbers_in_purchased_code(fields).iter().all(is_told) {
        TokenSet::in_order(found).map_err(|_no_tokens| BadTokens)
    } else {
        Err(BadTokens)
    }
}

fn key_change(fields: &Fields<'_>) -> Result<Vec<DescribedToken>, BadTokens> {
    match (fields.text(&["kct1"]), fields.text(&["kct2"])) {
        (None, None) => Ok(Vec::new()),
        (Some(first), Some(second)) => Ok(vec![
            DescribedToken::issued(None, TypicalDescription::FirstKeyChange, real(&first)?),
            DescribedToken::issued(None, TypicalDescription::SecondKeyChange, real(&second)?),
        ]),
        (Some(_), None) | (None, Some(_)) => Err(BadTokens),
    }
}

/// The one credit token, which all fields that have one must agree about.
fn credit(fields: &Fields<'_>) -> Result<MeterToken, BadTokens> {
    let stated = CREDIT.iter().filter_map(|name| fields.text(&[name]));
    let mut stated = stated.map(|text| real(&text)).collect::<Result<Vec<_>, _>>()?.into_iter();
    match stated.next() {
        Some(credit) if stated.all(|other| other == credit) => Ok(credit),
        Some(_) => Err(BadTokens),
        None => match numbers_in_purchased_code(fields).as_slice() {
            [only] => real(only),
            _ => Err(BadTokens),
        },
    }
}

/// Every number in `purchased_code`, without the separators of its groups.
fn numbers_in_purchased_code(fields: &Fields<'_>) -> Vec<String> {
    let text = fields.text(&["purchased_code"]).unwrap_or_default();
    let runs = text.split(|c: char| !(c.is_ascii_digit() || is_separator(c)));
    runs.map(|run| run.chars().filter(char::is_ascii_digit).collect())
        .filter(|digits: &String| !digits.is_empty())
        .collect()
}

/// A token of twenty digits that is not the dummy of a trial, without the word before it and without separators.
fn real(text: &str) -> Result<MeterToken, BadTokens> {
    let after_word = match text.get(..5) {
        Some(word) if word.eq_ignore_ascii_case("token") => {
            text.get(5..).unwrap_or_default().trim_start().trim_start_matches(':')
        }
        Some(_) | None => text,
    };
    let digits: String = after_word.chars().filter(|c| !is_separator(*c)).collect();
    let is_real = digits.len() == DIGITS
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && digits.bytes().any(|byte| byte != b'0');
    if is_real { MeterToken::parse(&digits).map_err(|_not_a_token| BadTokens) } else { Err(BadTokens) }
}

const fn is_separator(c: char) -> bool {
    matches!(c, ' ' | '-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::Reply;

    const ONE: &str = "26362054405982757802";
    const TWO: &str = "62881559799402440206";
    const THREE: &str = "41279616299856662444";

    fn read(json: &str) -> Option<String> {
        let body = format!(r#"{{"code":"000",{json}}}"#);
        let reply = Reply::read(body.as_bytes()).unwrap();
        tokens(&reply.fields).ok().map(|tokens| tokens.wire_form())
    }

    #[test]
    fn a_token_is_read_with_and_without_the_word_before_it_and_in_groups() {
        for json in [
            format!(
                r#""token":"Token : {ONE}","purchased_code":"Token : {ONE}","kct1":"N/A","resetToken":"N/A""#
            ),
            format!(r#""Token":"{ONE}","purchased_code":"Token : {ONE}""#),
            format!(r#""mainToken":"{ONE}","bonusToken":null"#),
            format!(r#""purchased_code":"Token: {ONE}""#),
            r#""token":"2636-2054-4059-8275-7802","purchased_code":"2636-2054-4059-8275-7802""#.to_owned(),
            r#""token":"2636 2054 4059 8275 7802""#.to_owned(),
        ] {
            assert_eq!(read(&json).as_deref(), Some(ONE), "{json}");
        }
    }

    #[test]
    fn a_key_change_comes_before_the_credit_and_a_bonus_after_it() {
        let key_change = format!(r#""kct1":"{TWO}","kct2":"{THREE}","token":"{ONE}""#);
        let told = format!("KeyChange Token1: {TWO}|KeyChange Token2: {THREE}|Credit Token: {ONE}");
        assert_eq!(read(&key_change), Some(told));
        let bonus = format!(
            r#""mainToken":"{ONE}","mainTokenDescription":"Normal Sale","bonusToken":"{TWO}",
               "bonusTokenDescription":"FBE Token","purchased_code":"Token : {ONE} Bonus Token : {TWO}""#
        );
        assert_eq!(read(&bonus), Some(format!("Normal Sale: {ONE}|FBE Token: {TWO}")));
    }

    #[test]
    fn tokens_that_are_missing_incomplete_or_contradictory_are_none() {
        for json in [
            r#""x":1"#.to_owned(),
            r#""token":"00000000000000000000""#.to_owned(),
            r#""token":"1234567890""#.to_owned(),
            format!(r#""token":"{ONE}9""#),
            format!(r#""token":"{ONE}","mainToken":"{TWO}""#),
            format!(r#""token":"{ONE}","purchased_code":"Token : {TWO}""#),
            format!(r#""token":"{ONE}","purchased_code":"Token : {ONE} Reset : {TWO}""#),
            format!(r#""purchased_code":"Token : {ONE} Bonus Token : {TWO}""#),
            format!(r#""token":"{ONE}","kct1":"{TWO}""#),
            format!(r#""token":"{ONE}","resetToken":"{TWO}""#),
            format!(r#""token":"{ONE}","configureToken":"{TWO}""#),
            format!(r#""token":"{ONE}","bonusToken":"soon""#),
        ] {
            assert_eq!(read(&json), None, "{json}");
        }
    }
}
