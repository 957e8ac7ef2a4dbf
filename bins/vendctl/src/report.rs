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
            add(&mut table, row.cells());
        }
        size(&mut table);
        Self { value: json(&rows), text: table.trim_fmt() + "\n" }
    }

    /// One thing, one line for each fact about it.
    pub(crate) fn one<R: Row>(row: &R) -> Self {
        let mut table = table();
        for (name, cell) in R::COLUMNS.iter().zip(row.cells()) {
            add(&mut table, [(*name).to_owned(), cell]);
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
        replace_commands(&self.text, |_command| " ".to_owned())
    }

    /// Escaped, where JSON itself asks for less than a terminal needs: it still reads as the same value.
    pub(crate) fn json(&self) -> String {
        let json = format!("{:#}\n", self.value);
        replace_commands(&json, |command| format!("\\u{:04x}", u32::from(command)))
    }
}

/// What others have worded, as part of a line: it neither breaks the line nor commands the terminal.
pub(crate) fn one_line(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
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

/// Adds a line to a table, whatever its cells hold.
pub(crate) fn add(table: &mut Table, cells: impl IntoIterator<Item = String>) {
    table.add_row(cells.into_iter().map(|cell| one_line(&cell)));
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

/// The text with every control character but its ends of lines replaced.
fn replace_commands(text: &str, replacement: impl Fn(char) -> String) -> String {
    let safe = |character: char| match character {
        '\n' => character.to_string(),
        command if command.is_control() => replacement(command),
        plain => plain.to_string(),
    };
    text.chars().map(safe).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_have_worded_does_not_command_the_terminal() {
        let worded = "no\u{1b}[2J credit\u{9b}31m\u{7f}\r";
        let report = Report::told(&worded, format!("{worded}\nnext\n"));
        assert_eq!(report.text(), "no [2J credit 31m  \nnext\n");
        let json = report.json();
        assert_eq!(json, "\"no\\u001b[2J credit\\u009b31m\\u007f\\r\"\n");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), worded);
    }

    #[test]
    fn a_cell_is_one_line_whatever_it_holds() {
        let mut table = table();
        add(&mut table, ["K. MOLEFE\nSUCCESSFUL".to_owned()]);
        assert_eq!(table.trim_fmt().trim(), "K. MOLEFE SUCCESSFUL");
    }
}
