//! A batch as a table of comma-separated values (RFC 4180): the names of the fields in the first row, a line in each other one. Each row
//! becomes the JSON object that says the same, so that there is one reader of lines.

use serde_json::Value;
use web::{ApiError, Detail, printable};

/// The columns, and how their values are written in JSON.
pub const COLUMNS: [&str; 12] = [
    "product_type",
    "provider_code",
    "beneficiary_phone_number",
    "subscriber_identifier",
    "amount",
    "external_reference",
    "comment",
    "charges_on_top_flag",
    "send_requester_sms",
    "send_beneficiary_sms",
    "send_requester_email",
    "send_beneficiary_email",
];

/// The rows as JSON objects: at most one more than `max`, so that the caller sees that there are too many.
pub(super) fn lines(body: &[u8], max: usize) -> Result<Vec<String>, ApiError> {
    let body = body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body);
    let mut table = csv::ReaderBuilder::new().from_reader(body);
    let names = table.headers().map_err(|error| unreadable(1, &error))?;
    let columns = names.iter().map(column).collect::<Result<Vec<_>, _>>()?;
    for (index, name) in columns.iter().enumerate() {
        if columns.iter().skip(index.saturating_add(1)).any(|other| other == name) {
            return Err(ApiError::new(Detail::ColumnRepeated).about(*name));
        }
    }
    let rows = table.records().take(max.saturating_add(1)).enumerate();
    rows.map(|(index, row)| {
        let row = row.map_err(|error| unreadable(index.saturating_add(2), &error))?;
        let members = columns.iter().zip(&row).filter(|(_, value)| !value.is_empty());
        let members: Vec<String> =
            members.map(|(name, value)| format!("\"{name}\":{}", written(name, value))).collect();
        Ok(format!("{{{}}}", members.join(",")))
    })
    .collect()
}

fn column(name: &str) -> Result<&'static str, ApiError> {
    let known = COLUMNS.into_iter().find(|known| *known == name.trim());
    known.ok_or_else(|| {
        ApiError::new(Detail::UnknownColumn).about(printable(name)).with("allowed", COLUMNS.join(", "))
    })
}

/// A number and a flag as they are, if they look like one, and anything else as a text.
fn written(name: &str, value: &str) -> String {
    let is_bare = match name {
        "amount" => {
            value.starts_with(|first: char| first.is_ascii_digit() || first == '-')
                && value.bytes().all(|byte| byte.is_ascii_digit() || b".-+eE".contains(&byte))
        }
        "product_type"
        | "provider_code"
        | "beneficiary_phone_number"
        | "subscriber_identifier"
        | "external_reference"
        | "comment" => false,
        _flag => ["true", "false"].contains(&value),
    };
    if is_bare { value.to_owned() } else { Value::from(value).to_string() }
}

fn unreadable(line: usize, cause: &csv::Error) -> ApiError {
    ApiError::new(Detail::BadCsv).with("line", line).because(cause.to_string())
}
