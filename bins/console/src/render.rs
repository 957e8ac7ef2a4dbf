//! Reports of commands as HTML.

use maud::{Markup, html};
use operator_commands::{Part, Report};

use crate::{text::Text, translator::Translator};

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

/// Lists of organisations, by their own pages.
pub(crate) fn to_the_organisation(column: &str, cell: &str, _: &[String]) -> Option<String> {
    (column == "code").then(|| format!("/organisations/{cell}"))
}

/// Lists of offers.
pub(crate) fn to_providers_of_offers(column: &str, cell: &str, _: &[String]) -> Option<String> {
    (column == "provider").then(|| format!("/providers/{cell}"))
}

/// Lists of incidents, which name their purchases too.
pub(crate) fn to_incidents(column: &str, cell: &str, line: &[String]) -> Option<String> {
    let incident = (column == "id").then(|| format!("/incidents/{cell}"));
    incident.or_else(|| to_named_purchases(column, cell, line))
}

/// Lists of reconciliations.
pub(crate) fn to_reconciliations(column: &str, cell: &str, _: &[String]) -> Option<String> {
    (column == "id").then(|| format!("/reconciliation/{cell}"))
}

/// All parts of a report. `caption` says what its tables list.
pub(crate) fn report(translator: Translator, report: &Report, caption: Text, leads: Leads) -> Markup {
    html! { @for part in report.parts() { (self::part(translator, part, caption, leads)) } }
}

/// The report about one thing that has a list: the list comes last.
pub(crate) fn list_last(translator: Translator, report: &Report, caption: Text, leads: Leads) -> Markup {
    let (lists, others): (Vec<_>, Vec<_>) =
        report.parts().iter().partition(|part| matches!(part, Part::Table { .. }));
    html! { @for part in others.into_iter().chain(lists) { (self::part(translator, part, caption, leads)) } }
}

/// One part of a report.
pub(crate) fn part(translator: Translator, part: &Part, caption: Text, leads: Leads) -> Markup {
    match part {
        Part::Table { columns, rows } => table(translator, columns, rows, caption, leads),
        Part::Fields(fields) => html! {
            dl {
                @for (name, value) in fields {
                    (term(translator, name))
                    dd { (cell(translator, (name, value, false), &[], leads)) }
                }
            }
        },
        Part::Note(sentence) => html! { p class="note" lang=[translator.english()] { (sentence) } },
        Part::Text(text) => html! { pre tabindex="0" lang=[translator.english()] { (text) } },
    }
}

fn table(
    translator: Translator,
    columns: &[String],
    rows: &[Vec<String>],
    caption: Text,
    leads: Leads,
) -> Markup {
    if rows.is_empty() {
        return html! { p { (translator.text(Text::NothingListed)) } };
    }
    html! {
        div class="scroll" role="region" aria-label=(translator.text(caption)) tabindex="0" {
            table {
                thead { tr { @for column in columns { (heading(translator, column)) } } }
                tbody {
                    @for row in rows {
                        tr {
                            @for (n, (column, cell)) in columns.iter().zip(row).enumerate() {
                                td { (self::cell(translator, (column, cell, n == 0), row, leads)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn heading(translator: Translator, column: &str) -> Markup {
    translator.heading(column).map_or_else(
        || html! { th scope="col" lang="en" { (column) } },
        |text| html! { th scope="col" { (text) } },
    )
}

fn term(translator: Translator, name: &str) -> Markup {
    translator.heading(name).map_or_else(|| html! { dt lang="en" { (name) } }, |text| html! { dt { (text) } })
}

fn cell(
    translator: Translator,
    (column, cell, is_first): (&str, &str, bool),
    row: &[String],
    leads: Leads,
) -> Markup {
    let said = translator.cell(column, cell, is_first);
    let said = said.as_deref().unwrap_or(cell);
    if let Some(address) = leads(column, cell, row) {
        html! { a href=(address) { (said) } }
    } else {
        html! { (said) }
    }
}
