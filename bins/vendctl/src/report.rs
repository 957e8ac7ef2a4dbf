//! What a command has to say: a table for a person, JSON for a script, the same facts in both.

use chrono::{DateTime, SecondsFormat, Utc};
use comfy_table::{Table, presets::NOTHING};
use serde::Serialize;
use serde_json::Value;

/// The outcome of a command.
pub(crate) struct Report {
    value: Value,
    text: String,
}

/// Something that can be a line of a table. Its JSON has fields of its own, which scripts rely on.
pub(crate) trait Row: Serialize {
    const COLUMNS: &'static [&'static str];

    fn cells(&self) -> Vec<String>;
}

impl Report {
    /// Many of a kind, one line each.
    pub(crate) fn list<R: Row>(rows: &[R]) -> Self {
        let mut table = table();
        table.set_header(R::COLUMNS.iter().map(|name| name.to_uppercase()));
        for row in rows {
            table.add_row(row.cells());
        }
        size(&mut table);
        Self { value: json(&rows), text: table.trim_fmt() + "\n" }
    }

    /// One thing, one line for each fact about it.
    pub(crate) fn one<R: Row>(row: &R) -> Self {
        let mut table = table();
        for (name, cell) in R::COLUMNS.iter().zip(row.cells()) {
            table.add_row([(*name).to_owned(), cell]);
        }
        size(&mut table);
        Self { value: json(row), text: table.trim_fmt() + "\n" }
    }

    /// Something that is told in its own words, and its facts.
    pub(crate) fn told(facts: &impl Serialize, text: String) -> Self {
        Self { value: json(facts), text }
    }

    /// A sentence more for a person; a script finds the same in the fields.
    pub(crate) fn noting(mut self, sentence: &str) -> Self {
        self.text.push('\n');
        self.text.push_str(sentence);
        self.text.push('\n');
        self
    }

    pub(crate) fn text(&self) -> String {
        self.text.clone()
    }

    pub(crate) fn json(&self) -> String {
        format!("{:#}\n", self.value)
    }
}

/// An instant as every surface of the house writes it.
pub(crate) fn instant(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// A fact that may be absent.
pub(crate) fn or_dash(text: Option<&str>) -> String {
    text.unwrap_or("-").to_owned()
}

/// Yes or no.
pub(crate) fn yes(is_so: bool) -> String {
    if is_so { "yes" } else { "no" }.to_owned()
}

pub(crate) fn table() -> Table {
    let mut table = Table::new();
    table.load_preset(NOTHING);
    table
}

/// No frame: two blanks between the columns.
pub(crate) fn size(table: &mut Table) {
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
}

fn json(rows: &(impl Serialize + ?Sized)) -> Value {
    serde_json::to_value(rows).expect("texts, numbers and lists of them have a JSON form")
}
