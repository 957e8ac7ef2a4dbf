//! A provider's statement, as a CSV file (RFC 4180) with a header.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read},
    path::Path,
};

use back_office::ListedVend;
use chrono::{DateTime, Utc};
use money::Currency;
use serde::Deserialize;
use vend::{Product, SubscriberIdentifier};

use crate::{
    error::VendctlError,
    parse,
    purchases::{TokenFault, parse_token},
};

/// In bytes: some 200,000 vends.
const READ_MAX: u64 = 32 << 20;

/// Why a statement cannot be read. It never contains a token.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StatementFileError {
    #[error("the statement cannot be read")]
    Unreadable(#[source] io::Error),
    #[error("the statement has more than {READ_MAX} bytes; split it")]
    TooLong,
    #[error(
        "line {line} of the statement does not have the columns reference, transaction, time, product, subscriber, amount and currency; `vendctl recover compare --help` describes them"
    )]
    Columns { line: u64 },
    #[error("line {line} of the statement: {column} {why}")]
    Value { line: u64, column: &'static str, why: String },
    #[error("lines {first} and {second} of the statement have the same {column}")]
    Twice { first: u64, second: u64, column: &'static str },
    #[error("the statement lists no vend")]
    Empty,
}

/// One line, as it is written.
#[derive(Deserialize)]
struct Line {
    reference: String,
    transaction: String,
    time: String,
    product: String,
    subscriber: String,
    amount: String,
    currency: String,
    #[serde(default)]
    token: String,
}

/// Reads a statement. All its lines must be valid.
pub(super) fn read(path: &Path) -> Result<Vec<ListedVend>, VendctlError> {
    let file = File::open(path).map_err(StatementFileError::Unreadable)?;
    let length = file.metadata().map_err(StatementFileError::Unreadable)?.len();
    if length > READ_MAX {
        return Err(StatementFileError::TooLong.into());
    }
    Ok(parse_statement(file)?)
}

fn parse_statement(from: impl Read) -> Result<Vec<ListedVend>, StatementFileError> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(from);
    let mut listed = Vec::new();
    let (mut references, mut transactions) = (BTreeMap::new(), BTreeMap::new());
    for (number, line) in (2..).zip(reader.deserialize::<Line>()) {
        let line = line.map_err(|error| not_a_line(error, number))?;
        let vend = line.parse(number)?;
        is_new(&mut references, &vend.provider_reference, number, "reference")?;
        is_new(&mut transactions, &vend.provider_transaction, number, "transaction")?;
        listed.push(vend);
    }
    if listed.is_empty() { Err(StatementFileError::Empty) } else { Ok(listed) }
}

/// The message of the parser may contain the line, and with it a token.
fn not_a_line(error: csv::Error, line: u64) -> StatementFileError {
    if let csv::ErrorKind::Io(error) = error.into_kind() {
        StatementFileError::Unreadable(error)
    } else {
        StatementFileError::Columns { line }
    }
}

fn is_new(
    seen: &mut BTreeMap<String, u64>,
    value: &str,
    line: u64,
    column: &'static str,
) -> Result<(), StatementFileError> {
    match seen.insert(value.to_owned(), line) {
        Some(first) => Err(StatementFileError::Twice { first, second: line, column }),
        None => Ok(()),
    }
}

impl Line {
    fn parse(self, line: u64) -> Result<ListedVend, StatementFileError> {
        let value = |column, why: String| StatementFileError::Value { line, column, why };
        let currency = Currency::in_hundredths(&self.currency)
            .map_err(|_malformed| value("currency", "is three capital letters (ISO 4217)".to_owned()))?;
        let product = Product::parse(&self.product)
            .ok_or_else(|| value("product", "is ELECTRICITY, AIRTIME or WATER".to_owned()))?;
        let vended_at = DateTime::parse_from_rfc3339(&self.time).map_err(|_malformed| {
            value("time", "is RFC 3339, such as 2026-11-23T09:30:00+02:00".to_owned())
        })?;
        let amount =
            parse::amount(&self.amount).map_err(|why| value("amount", format!("is not valid: {why}")))?;
        let subscriber = SubscriberIdentifier::parse(&self.subscriber)
            .map_err(|why| value("subscriber", format!("is not valid: {why}")))?;
        let tokens = match self.token.as_str() {
            "" => None,
            token => Some(
                parse_token(&token.into(), product)
                    .map_err(|why: TokenFault| value("token", format!("is not valid: {why}")))?,
            ),
        };
        Ok(ListedVend {
            provider_reference: label(&self.reference).map_err(|why| value("reference", why))?,
            provider_transaction: label(&self.transaction).map_err(|why| value("transaction", why))?,
            vended_at: vended_at.with_timezone(&Utc),
            product,
            subscriber_identifier: subscriber.to_string(),
            net: amount.of(currency),
            tokens,
        })
    }
}

fn label(text: &str) -> Result<String, String> {
    parse::label(text).map_err(|why| format!("is not valid: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "reference,transaction,time,product,subscriber,amount,currency,token\n";
    const TOKEN: &str = "08086259498974263587";

    fn of(lines: &str) -> Result<Vec<ListedVend>, String> {
        parse_statement(format!("{HEADER}{lines}").as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_statement_lists_vends_with_or_without_their_tokens() {
        let lines = format!(
            "20261124032043-000077,R1,2026-11-24T05:20:43+02:00,ELECTRICITY,04257670467,100.00,BWP,{TOKEN}\n\
             20261124032043-000078, R2 ,2026-11-24T03:20:44Z,AIRTIME,26771400001,20.00,BWP,\n"
        );
        let listed = of(&lines).unwrap();
        let [electricity, airtime] = listed.as_slice() else { panic!("{listed:?}") };
        assert_eq!(electricity.vended_at.to_rfc3339(), "2026-11-24T03:20:43+00:00");
        assert_eq!(electricity.net.to_string(), "BWP 100.00");
        assert_eq!(electricity.tokens.as_ref().map(meter_token::TokenSet::wire_form), Some(TOKEN.to_owned()));
        assert_eq!((airtime.provider_transaction.as_str(), airtime.tokens.is_none()), ("R2", true));
        let without = "reference,transaction,time,product,subscriber,amount,currency\n\
                       A,B,2026-11-24T03:20:44Z,AIRTIME,26771400001,20.00,BWP\n";
        assert_eq!(parse_statement(without.as_bytes()).unwrap().len(), 1);
    }

    #[test]
    fn a_line_that_is_not_valid_is_named_and_its_token_is_not_shown() {
        let line = |reference: &str, amount: &str, token: &str| {
            format!(
                "{reference},T{reference},2026-11-24T03:20:44Z,ELECTRICITY,04257670467,{amount},BWP,{token}\n"
            )
        };
        let two = |second: String| of(&(line("A", "1.00", TOKEN) + &second)).unwrap_err();
        assert_eq!(
            two(line("B", "1,5", TOKEN)),
            "line 3 of the statement does not have the columns reference, transaction, time, product, subscriber, amount \
             and currency; `vendctl recover compare --help` describes them"
        );
        assert!(two(line("B", "1.555", TOKEN)).starts_with("line 3 of the statement: amount is not valid: "));
        assert_eq!(
            two(line("B", "1.00", "0808625949897426358")),
            "line 3 of the statement: token is not valid: a token for electricity has 20 digits"
        );
        assert_eq!(two(line("A", "1.00", TOKEN)), "lines 2 and 3 of the statement have the same reference");
        assert_eq!(of("").unwrap_err(), "the statement lists no vend");
    }
}
