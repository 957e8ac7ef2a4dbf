//! Books as comma-separated values (RFC 4180), with a header.

use csv::Writer;
use serde::Serialize;

use super::{Sales, Statement, statement::Line};

/// The columns of a statement.
const COLUMNS: [&str; 15] = [
    "entry",
    "date",
    "posted_at",
    "kind",
    "part",
    "amount",
    "amount_minor",
    "balance",
    "balance_minor",
    "reference",
    "purchase_id",
    "external_reference",
    "subscriber_identifier",
    "product_type",
    "provider_code",
];

impl Statement {
    /// The page as rows. The first row of the first page has the opening balance. The last row of the last page has the
    /// closing balance, or the interim balance if the period has not ended. A page between two others has lines only.
    pub fn to_csv(&self, is_first: bool) -> Result<Vec<u8>, csv::Error> {
        let mut rows = writer();
        rows.write_record(COLUMNS)?;
        if is_first {
            let balance = (&*self.opening_balance, self.opening_balance_minor);
            write_balance(&mut rows, &self.from_time, "OPENING_BALANCE", balance)?;
        }
        for line in &self.data {
            rows.serialize(row(line))?;
        }
        if self.next_cursor.is_none() {
            let kind = if self.complete { "CLOSING_BALANCE" } else { "INTERIM_BALANCE" };
            let balance = (&*self.closing_balance, self.closing_balance_minor);
            write_balance(&mut rows, &self.as_of, kind, balance)?;
        }
        finished(rows)
    }
}

impl Sales {
    /// The rows of the report.
    pub fn to_csv(&self) -> Result<Vec<u8>, csv::Error> {
        let mut rows = writer();
        rows.write_record([
            "date",
            "product_type",
            "provider_code",
            "currency",
            "count",
            "total",
            "total_minor",
            "net",
            "net_minor",
            "charge",
            "charge_minor",
            "commission",
            "commission_minor",
        ])?;
        for row in &self.data {
            rows.serialize(row)?;
        }
        finished(rows)
    }
}

pub(super) fn writer() -> Writer<Vec<u8>> {
    csv::WriterBuilder::new().has_headers(false).terminator(csv::Terminator::CRLF).from_writer(Vec::new())
}

pub(super) fn finished(rows: Writer<Vec<u8>>) -> Result<Vec<u8>, csv::Error> {
    rows.into_inner().map_err(|error| error.into_error().into())
}

fn write_balance(
    rows: &mut Writer<Vec<u8>>,
    at: &str,
    kind: &str,
    (balance, minor): (&str, i64),
) -> Result<(), csv::Error> {
    rows.write_record(["", "", at, kind, "", "", "", balance, &minor.to_string(), "", "", "", "", "", ""])
}

/// A line with all its columns, the absent ones too.
fn row(line: &Line) -> impl Serialize {
    (
        (line.entry, &line.date, &line.posted_at, line.kind, line.part),
        (&line.amount, line.amount_minor, &line.balance, line.balance_minor),
        (&line.reference, line.purchase_id, &line.external_reference, &line.subscriber_identifier),
        (line.product_type, &line.provider_code),
    )
}
