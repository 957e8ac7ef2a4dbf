//! A provider's statement, as a CSV file (RFC 4180) with a header. It is read line by line, so it may be long.

mod form;
mod period;

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use chrono::TimeDelta;
use csv::ByteRecord;
use money::Currency;
use reconciliation::{ListedLine, ListedToken, ListedVend, TimeShift};
use sha2::{Digest, Sha256};
use vend::{Product, SubscriberIdentifier};

use crate::{
    parse,
    purchases::token::{TokenFault, parse_token},
};

pub use form::StatementForm;
pub use period::StatementDays;

pub(crate) use form::{Field, ReadingForm};

use form::Places;

/// Lines that are taken together: one question to the database is about all of them.
pub(crate) const BATCH: usize = 5_000;

/// Why a statement cannot be read. It never contains a token.
#[derive(Debug, thiserror::Error)]
pub enum StatementFileError {
    #[error("the statement cannot be read")]
    Unreadable(#[source] io::Error),
    #[error("line {line} of the statement has not as many columns as its first line")]
    Columns { line: u64 },
    #[error(
        "the statement has no column {heading}; name the column of `{field}` with --column {field}=HEADING, or give the one value \
         of all lines with --always {field}=VALUE"
    )]
    NoColumn { field: &'static str, heading: String },
    #[error("line {line} of the statement: {column} {why}")]
    Value { line: u64, column: &'static str, why: String },
    #[error(
        "lines {first} and {second} of the statement have the same {column}, and not the same values; ask the provider which is right"
    )]
    Twice { first: i64, second: i64, column: &'static str },
    #[error("the statement lists no vend")]
    Empty,
    #[error(
        "the statement lists no vend, and our books have {ours} in its period or at its edges, so it may be cut off, of another \
         account, or fetched with a wrong report_time_zone; nothing was kept. Find out which, and give --empty if it is right"
    )]
    NoneOfOurs { ours: usize },
    #[error(
        "{} of the first {} vends that the statement and our books both have are {} in the statement, so its times are of another time \
         zone; nothing was kept. Declare how they are written with --time-format, without the offset if it is wrong, and set the right \
         time_zone; for a file that was fetched, correct report_time_zone and fetch it again. If the provider's clock is wrong, give a \
         greater --tolerance",
        .0.vends, .0.compared, apart(.0.by)
    )]
    Shifted(TimeShift),
    #[error("the statement changed while it was read; wait until it is complete, and begin again")]
    Changed,
}

/// The lines of a statement.
pub struct Lines<R> {
    records: csv::Reader<Hashed<R>>,
    record: ByteRecord,
    places: Places,
    form: ReadingForm,
}

/// Computes the digest of what is read.
struct Hashed<R> {
    from: R,
    sha256: Sha256,
}

impl Lines<File> {
    pub fn open(path: &Path, form: ReadingForm) -> Result<Self, StatementFileError> {
        Self::read(File::open(path).map_err(StatementFileError::Unreadable)?, form)
    }
}

impl<R: Read> Lines<R> {
    pub(crate) fn read(from: R, form: ReadingForm) -> Result<Self, StatementFileError> {
        let mut reading = csv::ReaderBuilder::new();
        reading.trim(csv::Trim::All).delimiter(form.delimiter);
        let mut records = reading.from_reader(Hashed { from, sha256: Sha256::new() });
        let header = records.byte_headers().map_err(|error| not_a_line(error, 1))?;
        let places = form.places(header)?;
        Ok(Self { records, record: ByteRecord::new(), places, form })
    }

    /// The next line. `None` after the last one.
    pub(crate) fn next(&mut self) -> Result<Option<ListedLine>, StatementFileError> {
        let line = self.records.position().line();
        if !self.records.read_byte_record(&mut self.record).map_err(|error| not_a_line(error, line))? {
            return Ok(None);
        }
        let line = self.record.position().map_or(line, csv::Position::line);
        let vend = self.vend(line)?;
        Ok(Some(ListedLine { number: i64::try_from(line).unwrap_or(i64::MAX), vend }))
    }

    /// The next lines. Empty after the last one.
    pub fn batch(&mut self) -> Result<Vec<ListedLine>, StatementFileError> {
        let mut batch = Vec::with_capacity(BATCH);
        while batch.len() < BATCH {
            let Some(line) = self.next()? else { break };
            batch.push(line);
        }
        Ok(batch)
    }

    /// The SHA-256 of the file, after its last line.
    pub fn into_sha256(self) -> [u8; 32] {
        self.records.into_inner().sha256.finalize().into()
    }

    fn vend(&self, line: u64) -> Result<ListedVend, StatementFileError> {
        let value =
            |field: Field, why: String| StatementFileError::Value { line, column: field.as_str(), why };
        let text = |field: Field| {
            let cell = self.places.cell(field, &self.record);
            std::str::from_utf8(cell).map_err(|_not_text| value(field, "is not UTF-8".to_owned()))
        };
        let label = |field: Field| {
            parse::label(text(field)?).map_err(|why| value(field, format!("is not valid: {why}")))
        };
        let currency = Currency::in_hundredths(text(Field::Currency)?)
            .map_err(|_malformed| value(Field::Currency, "is three capital letters (ISO 4217)".to_owned()))?;
        let product = Product::parse(&text(Field::Product)?.to_ascii_uppercase())
            .ok_or_else(|| value(Field::Product, "is ELECTRICITY, AIRTIME or WATER".to_owned()))?;
        let amount = parse::amount(text(Field::Amount)?)
            .map_err(|why| value(Field::Amount, format!("is not valid: {why}")))?;
        let subscriber = SubscriberIdentifier::parse(text(Field::Subscriber)?)
            .map_err(|why| value(Field::Subscriber, format!("is not valid: {why}")))?;
        let token = token(text(Field::Token)?, text(Field::TokenSha256)?, product)
            .map_err(|(field, why)| value(field, format!("is not valid: {why}")))?;
        Ok(ListedVend {
            provider_reference: label(Field::Reference)?,
            provider_transaction: label(Field::Transaction)?,
            vended_at: self.form.moment(text(Field::Time)?).map_err(|why| value(Field::Time, why))?,
            product,
            subscriber_identifier: subscriber.to_string(),
            net: amount.of(currency),
            token,
        })
    }
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.from.read(into)?;
        self.sha256.update(into.get(..length).unwrap_or_default());
        Ok(length)
    }
}

/// The message of the parser may contain the line, and with it a token.
fn not_a_line(error: csv::Error, line: u64) -> StatementFileError {
    if let csv::ErrorKind::Io(error) = error.into_kind() {
        StatementFileError::Unreadable(error)
    } else {
        StatementFileError::Columns { line }
    }
}

fn token(plain: &str, sha256: &str, product: Product) -> Result<ListedToken, (Field, String)> {
    if !plain.is_empty() {
        let tokens = parse_token(&plain.into(), product);
        return tokens.map(ListedToken::Tokens).map_err(|why: TokenFault| (Field::Token, why.to_string()));
    }
    if sha256.is_empty() {
        return Ok(ListedToken::Absent);
    }
    let mut digest = [0; 32];
    hex::decode_to_slice(sha256, &mut digest)
        .map_err(|_not_hexadecimal| (Field::TokenSha256, "it has 64 hexadecimal digits".to_owned()))?;
    Ok(ListedToken::Digest(digest))
}

/// A shift in words: `2h later`.
fn apart(by: TimeDelta) -> String {
    let length = humantime::format_duration(by.abs().to_std().unwrap_or_default());
    format!("{length} {}", if by < TimeDelta::zero() { "earlier" } else { "later" })
}

/// The bounds of what a statement lists, for a check before anything is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checked {
    pub lines: u64,
    pub has_tokens: bool,
    pub sha256: [u8; 32],
}

impl Checked {
    /// Refuses a file without lines: it may be cut off.
    pub const fn refuse_empty(&self) -> Result<(), StatementFileError> {
        if self.lines == 0 { Err(StatementFileError::Empty) } else { Ok(()) }
    }
}

/// Reads the whole statement: all its lines must be valid.
pub fn check<E: From<StatementFileError>>(
    path: &Path,
    form: ReadingForm,
    mut is_right: impl FnMut(&ListedLine) -> Result<(), E>,
) -> Result<Checked, E> {
    let mut lines = Lines::open(path, form)?;
    let (mut count, mut has_tokens) = (0_u64, false);
    while let Some(line) = lines.next()? {
        is_right(&line)?;
        has_tokens |= line.vend.token != ListedToken::Absent;
        count = count.saturating_add(1);
    }
    Ok(Checked { lines: count, has_tokens, sha256: lines.into_sha256() })
}

#[cfg(test)]
mod tests {
    use chrono_tz::Africa::Gaborone;

    use super::*;

    const HEADER: &str = "reference,transaction,time,product,subscriber,amount,currency,token\n";
    const TOKEN: &str = "08086259498974263587";

    /// What is read of a file, in the form that these arguments declare.
    fn read(file: &str, arguments: &[&str]) -> Result<Vec<ListedVend>, String> {
        let form = StatementForm::of_words(arguments).reading(Gaborone);
        let mut lines = Lines::read(file.as_bytes(), form).map_err(|error| error.to_string())?;
        let mut listed = Vec::new();
        while let Some(line) = lines.next().map_err(|error| error.to_string())? {
            listed.push(line.vend);
        }
        let sha256: [u8; 32] = Sha256::digest(file).into();
        assert_eq!(lines.into_sha256(), sha256);
        Ok(listed)
    }

    fn of(lines: &str) -> Result<Vec<ListedVend>, String> {
        read(&format!("{HEADER}{lines}"), &[])
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
        let ListedToken::Tokens(tokens) = &electricity.token else { panic!("{electricity:?}") };
        assert_eq!(tokens.wire_form(), TOKEN);
        assert_eq!((airtime.provider_transaction.as_str(), &airtime.token), ("R2", &ListedToken::Absent));
        let without = "reference,transaction,time,product,subscriber,amount,currency\n\
                       A,B,2026-11-24T03:20:44Z,AIRTIME,26771400001,20.00,BWP\n";
        assert_eq!(read(without, &[]).unwrap().len(), 1);
    }

    #[test]
    fn a_vendors_own_headings_separators_and_times_are_declared() {
        let form = [
            "--column",
            "reference=MsgID",
            "--column",
            "transaction=Receipt No",
            "--column",
            "time=Date",
            "--column",
            "subscriber=Meter",
            "--column",
            "amount=Amount",
            "--column",
            "token-sha256=Hash",
            "--always",
            "product=electricity",
            "--always",
            "currency=BWP",
            "--delimiter",
            ";",
            "--time-format",
            "%d/%m/%Y %H:%M:%S",
        ];
        let hash = hex::encode(Sha256::digest(TOKEN));
        let file = format!(
            "\u{feff}Receipt No;Meter;Customer;Date;Amount;MsgID;Hash\nR1;04257670467;\"Molefe; K\";24/11/2026 05:20:43;100.00;A1;{hash}\n"
        );
        let listed = read(&file, &form).unwrap();
        let vend = &listed[0];
        assert_eq!(vend.vended_at.to_rfc3339(), "2026-11-24T03:20:43+00:00", "a local time");
        assert_eq!((vend.provider_reference.as_str(), vend.provider_transaction.as_str()), ("A1", "R1"));
        assert_eq!((vend.product, vend.net.to_string()), (Product::Electricity, "BWP 100.00".to_owned()));
        let tokens = meter_token::TokenSet::parse(TOKEN).unwrap();
        assert_eq!(vend.token, ListedToken::Digest(reconciliation::token_digest(&tokens)));

        let missing = read(&file.replace("MsgID", "Message"), &form).unwrap_err();
        assert!(
            missing.starts_with("the statement has no column MsgID; name the column of `reference`"),
            "{missing}"
        );
        let wrong = read(&file.replace("24/11", "11/24"), &form).unwrap_err();
        assert_eq!(wrong, "line 2 of the statement: time is not of the form %d/%m/%Y %H:%M:%S");
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
            "line 3 of the statement has not as many columns as its first line"
        );
        assert!(two(line("B", "1.555", TOKEN)).starts_with("line 3 of the statement: amount is not valid: "));
        assert_eq!(
            two(line("B", "1.00", "0808625949897426358")),
            "line 3 of the statement: token is not valid: a token for electricity has 20 digits"
        );
    }
}
