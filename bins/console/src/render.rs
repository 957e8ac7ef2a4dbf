//! Reports of commands as HTML.

use maud::{Markup, html};
use vendctl::{Part, Report};

/// Where a cell leads, by the name of its column. Gets the whole line, too.
pub(crate) type Leads = fn(column: &str, cell: &str, line: &[String]) -> Option<String>;

/// No cell leads anywhere.
pub(crate) fn nowhere(_: &str, _: &str, _: &[String]) -> Option<String> {
    None
}

/// Lists of purchases.
pub(crate) fn to_purchases(column: &str, cell: &str, line: &[String]) -> Option<String> {
    let is_purchase = line.first().is_none_or(|kind| kind != "refused confirm");
    (column == "id" && is_purchase).then(|| format!("/purchases/{cell}"))
}

/// Lists that name a purchase in a column.
pub(crate) fn to_named_purchases(column: &str, cell: &str, _: &[String]) -> Option<String> {
    (column == "purchase" && cell != "-").then(|| format!("/purchases/{cell}"))
}

/// Lists of providers.
pub(crate) fn to_providers(column: &str, cell: &str, _: &[String]) -> Option<String> {
    (column == "code").then(|| format!("/providers/{cell}"))
}

/// Lists of requests.
pub(crate) fn to_approvals(column: &str, cell: &str, _: &[String]) -> Option<String> {
    (column == "request").then(|| format!("/approvals/{cell}"))
}

/// Lists of wallets.
pub(crate) fn to_wallets(column: &str, cell: &str, _: &[String]) -> Option<String> {
    (column == "id").then(|| format!("/wallets/{cell}"))
}

/// Lists of organisations.
pub(crate) fn to_organisations(column: &str, cell: &str, _: &[String]) -> Option<String> {
    (column == "code").then(|| format!("/wallets?organisation={cell}"))
}

/// All parts of a report. `caption` says what its tables list.
pub(crate) fn report(report: &Report, caption: &str, leads: Leads) -> Markup {
    html! { @for part in report.parts() { (self::part(part, caption, leads)) } }
}

/// One part of a report.
pub(crate) fn part(part: &Part, caption: &str, leads: Leads) -> Markup {
    match part {
        Part::Table { columns, rows } => table(columns, rows, caption, leads),
        Part::Fields(fields) => html! {
            dl { @for (name, value) in fields { dt { (name) } dd { (value) } } }
        },
        Part::Note(sentence) => html! { p class="note" { (sentence) } },
        Part::Text(text) => html! { pre { (text) } },
    }
}

fn table(columns: &[String], rows: &[Vec<String>], caption: &str, leads: Leads) -> Markup {
    if rows.is_empty() {
        return html! { p { "None." } };
    }
    html! {
        div class="scroll" role="region" aria-label=(caption) tabindex="0" {
            table {
                thead { tr { @for column in columns { th scope="col" { (column) } } } }
                tbody {
                    @for row in rows {
                        tr { @for (column, cell) in columns.iter().zip(row) { td { (self::cell(column, cell, row, leads)) } } }
                    }
                }
            }
        }
    }
}

fn cell(column: &str, cell: &str, row: &[String], leads: Leads) -> Markup {
    if let Some(address) = leads(column, cell, row) {
        html! { a href=(address) { (cell) } }
    } else {
        html! { (cell) }
    }
}

/// A field for a line of text. Its name is the only one on the page.
pub(crate) fn text_field(name: &str, label: &str, hint: &str, value: &str, is_required: bool) -> Markup {
    text_field_of("", name, label, hint, value, is_required)
}

/// The same on a page with several forms. `form` keeps the ids of their fields apart.
fn text_field_of(form: &str, name: &str, label: &str, hint: &str, value: &str, is_required: bool) -> Markup {
    let id = format!("{form}{name}");
    let hint_id = format!("{id}-hint");
    html! {
        div {
            label for=(id) { (label) }
            input type="text" id=(id) name=(name) value=(value) required[is_required] autocomplete="off"
                aria-describedby=[(!hint.is_empty()).then_some(&hint_id)];
            @if !hint.is_empty() { span class="hint" id=(hint_id) { (hint) } }
        }
    }
}

/// The field that every act has. `form` keeps it apart from that of another form of the page.
pub(crate) fn reason_field(form: &str) -> Markup {
    let hint = "A sentence. It is stored in the audit log, under your name.";
    text_field_of(form, "reason", "Reason", hint, "", true)
}

/// A field with a choice. The first pair is chosen.
pub(crate) fn choice_field(name: &str, label: &str, choices: &[(&str, &str)], chosen: &str) -> Markup {
    html! {
        div {
            label for=(name) { (label) }
            select id=(name) name=(name) {
                @for (value, text) in choices {
                    option value=(value) selected[*value == chosen] { (text) }
                }
            }
        }
    }
}
