//! The body of a batch: as JSON, or as a table of comma-separated values with the header in the query.

use std::collections::{HashMap, hash_map::Entry};

use actix_web::HttpRequest;
use purchase::{PurchaseRequest, SourceChannel};
use serde_json::Value;
use vending::{BatchId, LineState, REFERENCE_MAX};
use web::{ApiError, Detail, Fields};

use super::{
    batch_table,
    format::Format,
    limits::{BATCH_LINES_MAX, BATCHES_DEFAULT, BATCHES_MAX, LINES_DEFAULT, LINES_MAX, SHORT_TEXT_MAX},
    path_id::number,
    purchase::purchase_request,
    query::{fields_of, page_length},
};
use crate::{BatchCall, Endpoint};

/// A batch as it was sent, its lines not checked against the catalogue.
#[derive(Debug)]
pub struct SentBatch {
    /// The integrator's own name for it.
    pub reference: String,
    /// Each line, or what is wrong with it.
    pub lines: Vec<Result<PurchaseRequest, ApiError>>,
}

/// What is the same for all lines, as the JSON of the members that each line gets.
struct Header {
    reference: String,
    members: String,
}

/// The query of the lines.
#[derive(Debug)]
pub struct BatchLinesQuery {
    /// Only lines in this state.
    pub state: Option<LineState>,
    /// The line behind which the page begins.
    pub after: u32,
    /// The length of the page.
    pub limit: u16,
    /// The format of the answer.
    pub format: Format,
}

/// The batch named in a path. The answer is 404 if the segment is not spelled as an id.
pub fn batch_in_path(segment: &str) -> Result<BatchId, ApiError> {
    number(segment).map(BatchId)
}

/// The fields of the query of create, which are those of the header if the body is a table.
pub fn batch_query(request: &HttpRequest) -> Result<Fields, ApiError> {
    fields_of(request.query_string(), Endpoint::Batches(BatchCall::Create))
}

/// Reads a JSON body.
pub fn batch_of_json(fields: &Fields) -> Result<SentBatch, ApiError> {
    fields.optional_one_of("source_channel", &[SourceChannel::Batch], SourceChannel::as_str)?;
    let account = fields.required_integer("debited_account_id")?;
    let header = header(fields, account)?;
    let lines = fields.required_elements("lines")?;
    checked_count(lines.len())?;
    Ok(sent(header, lines.into_iter().map(str::to_owned).map(Ok)))
}

/// Reads a table; the header is in the query.
pub fn batch_of_table(query: &Fields, body: &[u8]) -> Result<SentBatch, ApiError> {
    let account = query.required_text("debited_account_id", SHORT_TEXT_MAX)?;
    let digits = Some(&account).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    let account = digits.and_then(|digits| digits.parse().ok());
    let account =
        account.ok_or_else(|| ApiError::new(Detail::ExpectedInteger).about("debited_account_id"))?;
    let header = header(query, account)?;
    let lines = batch_table::lines(body, BATCH_LINES_MAX)?;
    checked_count(lines.len())?;
    Ok(sent(header, lines.into_iter().map(Ok)))
}

fn header(fields: &Fields, account: i64) -> Result<Header, ApiError> {
    let reference = fields.required_name("reference", REFERENCE_MAX)?;
    let (language, _locale) = fields.required_locale("language")?;
    let currency = fields.required_currency("currency")?;
    let members = format!(
        "\"source_channel\":\"BATCH\",\"language\":{},\"debited_account_id\":{account},\"currency\":\"{}\"",
        Value::from(language),
        currency.as_str(),
    );
    Ok(Header { reference, members })
}

fn checked_count(lines: usize) -> Result<(), ApiError> {
    if (1..=BATCH_LINES_MAX).contains(&lines) {
        return Ok(());
    }
    Err(ApiError::new(Detail::BadLineCount).about("lines").with("limit", BATCH_LINES_MAX))
}

/// Reads each line with the reader of every purchase, after the header was put into it.
fn sent(header: Header, lines: impl Iterator<Item = Result<String, ApiError>>) -> SentBatch {
    let mut known = HashMap::new();
    let lines = lines.enumerate().map(|(index, line)| {
        let place = index.saturating_add(1);
        let line = with_members(&line?, &header.members)?;
        let mut request = purchase_request(&Fields::parse(line.as_bytes())?)?;
        let reference =
            request.external_reference.take().unwrap_or_else(|| format!("{}/{place}", header.reference));
        match known.entry(reference.clone()) {
            Entry::Vacant(vacant) => vacant.insert(place),
            Entry::Occupied(earlier) => {
                return Err(ApiError::new(Detail::LineReferenceRepeated)
                    .about("external_reference")
                    .with("line", earlier.get()));
            }
        };
        request.external_reference = Some(reference);
        Ok(request)
    });
    let lines = lines.collect();
    SentBatch { reference: header.reference, lines }
}

/// The object with these members, too. A line that has one of them itself is refused, because it has it twice then.
fn with_members(line: &str, members: &str) -> Result<String, ApiError> {
    let inner = line.trim_start().strip_prefix('{').ok_or_else(|| ApiError::new(Detail::NotAnObject))?;
    let comma = if inner.trim_start().starts_with('}') { "" } else { "," };
    Ok(format!("{{{members}{comma}{inner}"))
}

/// The query of the list: the number before which the page begins, and its length.
pub fn batch_list_query(request: &HttpRequest) -> Result<(Option<BatchId>, u16), ApiError> {
    let fields = fields_of(request.query_string(), Endpoint::Batches(BatchCall::List))?;
    let before = cursor::<i64>(&fields)?.map(BatchId);
    Ok((before, page_length(&fields, BATCHES_MAX)?.unwrap_or(BATCHES_DEFAULT)))
}

/// The query of the lines of a batch.
pub fn batch_lines_query(request: &HttpRequest) -> Result<BatchLinesQuery, ApiError> {
    let fields = fields_of(request.query_string(), Endpoint::Batches(BatchCall::Lines))?;
    Ok(BatchLinesQuery {
        state: fields.optional_one_of("status", &LineState::ALL, LineState::as_str)?,
        after: cursor(&fields)?.unwrap_or_default(),
        limit: page_length(&fields, LINES_MAX)?.unwrap_or(LINES_DEFAULT),
        format: Format::read(request, &fields, &Format::OF_REPORT)?,
    })
}

fn cursor<T: std::str::FromStr>(fields: &Fields) -> Result<Option<T>, ApiError> {
    let Some(cursor) = fields.optional_text("cursor", SHORT_TEXT_MAX)? else { return Ok(None) };
    let digits = Some(&cursor).filter(|cursor| cursor.bytes().all(|byte| byte.is_ascii_digit()));
    let number = digits.and_then(|digits| digits.parse().ok());
    number.map(Some).ok_or_else(|| ApiError::new(Detail::BadCursor).about("cursor"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"product_type":"ELECTRICITY","provider_code":"BPC","beneficiary_phone_number":"26771234567","subscriber_identifier":"07000010012","amount":50.00}"#;

    fn batch(lines: &[&str]) -> Result<SentBatch, ApiError> {
        let body = format!(
            r#"{{"reference":"salaries","language":"en-BW","debited_account_id":1,"currency":"BWP","lines":[{}]}}"#,
            lines.join(",")
        );
        batch_of_json(&Fields::parse(body.as_bytes()).unwrap())
    }

    fn wrong(batch: &SentBatch) -> Vec<(usize, &str, Option<&str>)> {
        let lines = batch.lines.iter().enumerate();
        lines
            .filter_map(|(index, line)| {
                line.as_ref().err().map(|why| (index, why.code().as_str(), why.param()))
            })
            .collect()
    }

    #[test]
    fn each_line_is_a_purchase_on_the_channel_of_batches_with_a_name_of_its_own() {
        let named = LINE.replace("\"amount\"", "\"external_reference\":\"JAN-7\",\"amount\"");
        let sent = batch(&[LINE, &named]).unwrap();
        let lines: Vec<_> = sent.lines.into_iter().map(Result::unwrap).collect();
        assert!(lines.iter().all(|line| line.source_channel == SourceChannel::Batch));
        let references: Vec<_> = lines.iter().filter_map(|line| line.external_reference.as_deref()).collect();
        assert_eq!(references, ["salaries/1", "JAN-7"]);
    }

    #[test]
    fn every_wrong_line_is_named_and_no_right_one() {
        let repeated = LINE.replace("\"amount\"", "\"external_reference\":\"salaries/1\",\"amount\"");
        let sent = batch(&[
            LINE,
            &LINE.replace("50.00", "-1"),
            &LINE.replace("26771234567", "0"),
            "7",
            "{}",
            &repeated,
            &LINE.replace("\"amount\"", "\"currency\":\"ZAR\",\"amount\""),
        ])
        .unwrap();
        assert_eq!(
            wrong(&sent),
            [
                (1, "invalid_amount", Some("amount")),
                (2, "invalid_msisdn", Some("beneficiary_phone_number")),
                (3, "invalid_argument", None),
                (4, "missing_field", Some("product_type")),
                (5, "invalid_argument", Some("external_reference")),
                (6, "invalid_argument", Some("currency")),
            ]
        );
    }

    #[test]
    fn a_table_is_read_as_the_same_lines() {
        let query =
            r#"{"reference":"salaries","language":"en-BW","debited_account_id":"1","currency":"BWP"}"#;
        let query = Fields::parse(query.as_bytes()).unwrap();
        let table = "product_type,provider_code,beneficiary_phone_number,subscriber_identifier,amount,comment\r\n\
            ELECTRICITY,BPC,26771234567,07000010012,50.00,\"one, \"\"two\"\"\"\r\n\
            ELECTRICITY,BPC,26771234567,07000010012,fifty,\r\n";
        let sent = batch_of_table(&query, table.as_bytes()).unwrap();
        let first = sent.lines.first().unwrap().as_ref().unwrap();
        assert_eq!(first.comment.as_deref(), Some("one, \"two\""));
        assert_eq!(first.external_reference.as_deref(), Some("salaries/1"));
        assert_eq!(wrong(&sent), [(1, "invalid_amount", Some("amount"))]);
        for (table, param) in [
            ("product_type,colour\r\nELECTRICITY,red\r\n", Some("colour")),
            ("amount,amount\r\n1,1\r\n", Some("amount")),
            ("amount,comment\r\n1\r\n", None),
            ("amount\r\n", Some("lines")),
        ] {
            let refused = batch_of_table(&query, table.as_bytes()).unwrap_err();
            assert_eq!((refused.code().as_str(), refused.param()), ("invalid_argument", param), "{table}");
        }
    }

    #[test]
    fn a_batch_has_at_least_one_line_and_not_too_many() {
        let too_many = vec!["{}"; BATCH_LINES_MAX + 1];
        for lines in [&[][..], &too_many] {
            let refused = batch(lines).unwrap_err();
            assert_eq!((refused.code().as_str(), refused.param()), ("invalid_argument", Some("lines")));
        }
    }
}
