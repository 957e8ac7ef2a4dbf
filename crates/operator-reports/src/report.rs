//! The output of a command: a table for a person, or JSON for a script, with the same data.

use chrono::{DateTime, SecondsFormat, Utc};
use chrono_tz::Tz;
use comfy_table::{Table, presets::NOTHING};
use purchase::StateName;
use serde::Serialize;
use serde_json::Value;

use crate::error::VendctlError;

/// The outcome of a command.
pub struct Report {
    value: Value,
    parts: Vec<Part>,
    purchase_state: Option<StateName>,
    outcome: Outcome,
    /// The columns and fields whose cells have moments of ours.
    moments: &'static [&'static str],
    /// The zone in which the parts have moments, once it is known.
    zone: Option<Tz>,
}

/// What a command has come to. A script reads it from the exit code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    /// It is done, or shown.
    #[default]
    Done,
    /// Nothing was done yet, because another person must approve it.
    Waits,
    /// A statement and the books were compared, and differ in what no person has decided. Or a statement was fetched that is not final.
    Differs,
}

/// A part of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Lines below headings.
    Table {
        /// The headings.
        columns: Vec<String>,
        /// The cells of each line, as many as there are headings.
        rows: Vec<Vec<String>>,
    },
    /// One object: the names of its fields, and their values.
    Fields(Vec<(String, String)>),
    /// A sentence for the person.
    Note(String),
    /// Text that is written for a terminal.
    Text(String),
}

/// A row of a table. Its JSON has field names of its own, which scripts rely on.
pub trait Row: Serialize {
    const COLUMNS: &'static [&'static str];

    /// The columns whose cells have moments of ours, as [`instant`] writes them. A person gets them in local time.
    const MOMENTS: &'static [&'static str] = &[];

    fn cells(&self) -> Vec<String>;
}

impl Report {
    /// A list, one line for each element.
    pub fn list<R: Row>(rows: &[R]) -> Self {
        let columns = R::COLUMNS.iter().map(|&name| name.to_owned()).collect();
        let part = Part::Table { columns, rows: rows.iter().map(Row::cells).collect() };
        Self { moments: R::MOMENTS, ..Self::of(&rows, vec![part]) }
    }

    /// A list as CSV, with a line of headings. A program that opens it takes no cell for a formula.
    pub fn csv<R: Row>(rows: &[R]) -> Result<Self, VendctlError> {
        Ok(Self::text_and_data(&rows, csv_text(rows, &[])?))
    }

    /// One object, one line for each of its fields.
    pub fn one<R: Row>(row: &R) -> Self {
        let names = R::COLUMNS.iter().map(|&name| name.to_owned());
        let part = Part::Fields(names.zip(row.cells()).collect());
        Self { moments: R::MOMENTS, ..Self::of(row, vec![part]) }
    }

    /// Free text, and its data for scripts.
    pub fn text_and_data(data: &(impl Serialize + ?Sized), text: String) -> Self {
        Self::of(data, vec![Part::Text(text)])
    }

    /// Parts with a blank line between them, and their data for scripts.
    pub fn of(data: &(impl Serialize + ?Sized), parts: Vec<Part>) -> Self {
        Self {
            value: json(data),
            parts,
            purchase_state: None,
            outcome: Outcome::Done,
            moments: &[],
            zone: None,
        }
    }

    /// The parts of the report, for a program that shows them in its own way. They may contain any character.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The report for a person in this zone: the moments of its columns and fields in local time. The data stays in UTC.
    #[must_use]
    pub fn in_zone(mut self, zone: Tz) -> Self {
        let moments = self.moments;
        let mut has_moments = false;
        let mut localise = |name: &str, cell: &mut String| {
            if moments.contains(&name) {
                let said = in_local_time(cell, zone);
                has_moments |= said != *cell;
                *cell = said;
            }
        };
        for part in &mut self.parts {
            match part {
                Part::Table { columns, rows } => {
                    let cells = rows.iter_mut().flat_map(|row| columns.iter().zip(row));
                    cells.for_each(|(name, cell)| localise(name, cell));
                }
                Part::Fields(fields) => fields.iter_mut().for_each(|(name, value)| localise(name, value)),
                Part::Note(_) | Part::Text(_) => {}
            }
        }
        if has_moments { self.told_in(zone) } else { self }
    }

    /// Names the columns and fields that have moments, if the report has parts of several rows.
    #[must_use]
    pub fn with_moments(self, moments: &'static [&'static str]) -> Self {
        Self { moments, ..self }
    }

    /// The parts have moments in the local time of this zone.
    #[must_use]
    pub fn told_in(self, zone: Tz) -> Self {
        Self { zone: Some(zone), ..self }
    }

    /// The report is about one purchase in this state.
    pub(crate) fn of_purchase_in(self, state: StateName) -> Self {
        Self { purchase_state: Some(state), ..self }
    }

    /// Whether the report is about one purchase that waits for an operator's decision.
    pub fn waits_for_decision(&self) -> bool {
        self.purchase_state == Some(StateName::Review)
    }

    /// Whether the report is about one purchase that ended with success.
    pub fn is_of_a_sale(&self) -> bool {
        self.purchase_state == Some(StateName::Successful)
    }

    /// The data of `--json`, whose names of fields do not change.
    pub const fn data(&self) -> &Value {
        &self.value
    }

    /// Adds a sentence for a person. A script finds the same in the fields.
    #[must_use]
    pub fn noting(mut self, sentence: &str) -> Self {
        self.parts.push(Part::Note(sentence.to_owned()));
        self
    }

    /// Adds the sentence, if there is one.
    #[must_use]
    pub fn noting_any(self, sentence: Option<&str>) -> Self {
        match sentence {
            Some(sentence) => self.noting(sentence),
            None => self,
        }
    }

    /// What the command has come to, if it is not simply done.
    #[must_use]
    pub fn with_outcome(self, outcome: Outcome) -> Self {
        Self { outcome, ..self }
    }

    /// What the command has come to.
    pub const fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// The text for a terminal. If it has moments, its last line names their zone.
    pub fn text(&self) -> String {
        let zone = self.zone.map(|zone| format!("Times are local: {zone}.\n"));
        let text = self.parts.iter().map(Part::text).chain(zone).collect::<Vec<_>>().join("\n");
        replace_commands(&text, |_command| " ".to_owned())
    }

    /// JSON with all control characters escaped, also those that JSON allows. It parses to the same value.
    pub fn json(&self) -> String {
        let json = format!("{:#}\n", self.value);
        replace_commands(&json, |command| format!("\\u{:04x}", u32::from(command)))
    }
}

impl Part {
    /// The part for a terminal. It ends with a line feed.
    fn text(&self) -> String {
        match self {
            Self::Table { columns, rows } => {
                let mut table = table();
                table.set_header(columns.iter().map(|name| name.to_uppercase()));
                in_lines(table, rows.iter().cloned())
            }
            Self::Fields(fields) => {
                in_lines(table(), fields.iter().map(|(name, value)| [name.clone(), value.clone()]))
            }
            Self::Note(sentence) => format!("{sentence}\n"),
            Self::Text(text) => text.clone(),
        }
    }
}

/// Text from outside as part of a line, without control characters: it cannot break the line or control the terminal.
pub(crate) fn one_line(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

/// An instant in RFC 3339, in UTC, with seconds.
pub fn instant(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// A moment as a person writes it: in local time, with seconds.
pub fn local(at: DateTime<Utc>, zone: Tz) -> String {
    at.with_timezone(&zone).format("%Y-%m-%d %H:%M:%S").to_string()
}

/// A text of ours with each moment in local time.
pub fn in_local_time(text: &str, zone: Tz) -> String {
    let word = |word: &str| {
        let moment = word.trim_matches(|mark: char| !mark.is_ascii_alphanumeric());
        match DateTime::parse_from_rfc3339(moment) {
            Ok(at) => word.replace(moment, &local(at.to_utc(), zone)),
            Err(_no_moment) => word.to_owned(),
        }
    };
    text.split_inclusive(char::is_whitespace).map(word).collect()
}

/// A value that may be absent.
pub fn or_dash(text: Option<&str>) -> String {
    text.unwrap_or("-").to_owned()
}

/// An amount that a spreadsheet takes for a number.
pub fn plain(hundredths: i64) -> String {
    let (sign, size) = (if hundredths < 0 { "-" } else { "" }, hundredths.unsigned_abs());
    format!("{sign}{}.{:02}", size / 100, size % 100)
}

pub fn yes(is_so: bool) -> String {
    if is_so { "yes" } else { "no" }.to_owned()
}

fn table() -> Table {
    let mut table = Table::new();
    table.load_preset(NOTHING);
    table
}

/// Rows as CSV, with a line of headings. The last columns are the same in each line.
pub(crate) fn csv_text<R: Row>(rows: &[R], last: &[(&str, String)]) -> Result<String, VendctlError> {
    let mut lines = csv::Writer::from_writer(Vec::new());
    lines.write_record(R::COLUMNS.iter().copied().chain(last.iter().map(|(name, _)| *name)))?;
    for row in rows {
        let cells = row.cells().into_iter().chain(last.iter().map(|(_, cell)| cell.clone()));
        lines.write_record(cells.map(|cell| no_formula(&cell)))?;
    }
    let text = lines.into_inner().map_err(|error| VendctlError::Unprinted(error.into_error()))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Adds lines to a table and prints it, with two blanks between its columns. Control characters in cells become blanks.
fn in_lines(mut table: Table, lines: impl IntoIterator<Item = impl IntoIterator<Item = String>>) -> String {
    for line in lines {
        table.add_row(line.into_iter().map(|cell| one_line(&cell)));
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table.trim_fmt() + "\n"
}

/// An integrator's text may begin like a formula. The apostrophe makes it a text; a dash alone is our sign for nothing, and before
/// digits it is that of a negative amount.
fn no_formula(cell: &str) -> String {
    let is_amount = |cell: &str| {
        cell.strip_prefix('-')
            .is_some_and(|rest| rest.bytes().all(|byte| byte == b'.' || byte.is_ascii_digit()))
    };
    let is_formula = cell.starts_with(['=', '+', '-', '@']) && !is_amount(cell);
    let cell = one_line(cell);
    if is_formula { format!("'{cell}") } else { cell }
}

fn json(rows: &(impl Serialize + ?Sized)) -> Value {
    serde_json::to_value(rows).expect("texts, numbers and lists of them can be serialised")
}

/// `text` with every control character but line feeds replaced.
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
    fn text_from_outside_does_not_control_the_terminal() {
        let text = "no\u{1b}[2J credit\u{9b}31m\u{7f}\r";
        let report = Report::text_and_data(&text, format!("{text}\nnext\n"));
        assert_eq!(report.text(), "no [2J credit 31m  \nnext\n");
        let json = report.json();
        assert_eq!(json, "\"no\\u001b[2J credit\\u009b31m\\u007f\\r\"\n");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }

    #[derive(Serialize)]
    struct Paused {
        until: &'static str,
        notice: &'static str,
    }

    impl Row for Paused {
        const COLUMNS: &'static [&'static str] = &["until", "notice"];
        const MOMENTS: &'static [&'static str] = &["until"];

        fn cells(&self) -> Vec<String> {
            vec![self.until.to_owned(), self.notice.to_owned()]
        }
    }

    #[test]
    fn a_person_reads_local_times_in_a_zone_that_is_named_once_and_a_script_reads_utc() {
        let until = "now until 2026-11-20T22:30:00Z (pause 1); WATER from 2026-11-21T01:00:00Z;";
        let rows = [Paused { until, notice: "at 2026-11-20T22:30:00Z" }];
        let local = "now until 2026-11-21 00:30:00 (pause 1); WATER from 2026-11-21 03:00:00;";
        for report in [Report::list(&rows), Report::one(&rows[0])] {
            let report = report.in_zone(Tz::Africa__Gaborone);
            let text = report.text();
            assert!(text.contains(local) && text.contains("at 2026-11-20T22:30:00Z"), "{text}");
            assert!(text.ends_with("\n\nTimes are local: Africa/Gaborone.\n"), "{text}");
            assert!(report.json().contains(until));
        }
        let without = Report::one(&Paused { until: "-", notice: "-" }).in_zone(Tz::Africa__Gaborone);
        assert!(!without.text().contains("Times are local"));
    }

    #[test]
    fn a_cell_is_one_line_whatever_it_holds() {
        let text = in_lines(table(), [["K. MOLEFE\nSUCCESSFUL".to_owned()]]);
        assert_eq!(text.trim(), "K. MOLEFE SUCCESSFUL");
    }
}
