//! What is owed to providers and organisations, what was paid to them, the fees that were earned, and all accounts.

use actix_web::web::Query;
use maud::html;
use serde::Deserialize;

use super::{Page, shown};
use crate::{
    fields::{Field, choice},
    layout,
    render::nowhere,
    text::Text,
    visit::Visit,
    words::Words,
};

const ACCOUNTS: &str = "accounts";

const REPORTS: [(&str, Text); 4] = [
    ("payable", Text::Payable),
    ("fees", Text::Fees),
    ("commission", Text::Commission),
    (ACCOUNTS, Text::Accounts),
];

const BY: [(&str, Text); 5] = [
    ("", Text::ByBalance),
    ("day", Text::ByDay),
    ("provider", Text::ByProvider),
    ("product", Text::ByProduct),
    ("organisation", Text::ByOrganisation),
];

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    report: String,
    date: String,
    to: String,
    by: String,
}

pub(super) async fn show(visit: Visit, asked: Query<Asked>) -> Page {
    let translator = visit.translator();
    let chosen = REPORTS.into_iter().find(|(report, _)| *report == asked.report);
    let (report, caption) = chosen.unwrap_or(("payable", Text::Payable));
    let words = Words::of(&format!("report {report}")).option("date", &asked.date).option("to", &asked.to);
    // The report of all accounts has a line for each account.
    let words = if report == ACCOUNTS { words } else { words.option("by", &asked.by) };
    let fields = [
        Field::of("date", Text::FirstDay).hint(Text::FirstDayHint).value(&asked.date).required(),
        Field::of("to", Text::LastDay).hint(Text::LastDayHint).value(&asked.to),
    ];
    let content = html! {
        p { (translator.text(Text::BooksNote)) }
        @if visit.may("report payable") {
            form class="fields" method="get" action="/books" {
                (choice(translator, ("report", Text::ReportOf), &REPORTS, report))
                @for field in fields { (field.html(translator)) }
                (choice(translator, ("by", Text::LineForEach), &BY, &asked.by))
                button { (translator.text(Text::Show)) }
            }
        } @else {
            p { (translator.text(Text::NotOfYourRole)) }
        }
        @if !asked.date.trim().is_empty() {
            h2 { (translator.text(caption)) }
            (shown(&visit, words, caption, nowhere).await)
        }
    };
    Ok(layout::page(&visit, "/books", &translator.text(Text::Books), &content))
}
