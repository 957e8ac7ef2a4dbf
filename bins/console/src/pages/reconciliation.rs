//! Statements of providers that were held against the books, and what they do not agree about.

use actix_web::web::{Path, Query};
use maud::{Markup, html};
use serde::Deserialize;

use super::{Page, run, see_other, shown};
use crate::{
    fields::Field,
    layout,
    render::{self, to_named_purchases, to_reconciliations},
    text::Text,
    visit::{Posted, Visit},
    words::Words,
};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    provider: String,
    /// Also discrepancies that are closed.
    all: String,
    after: String,
    before: String,
}

pub(super) async fn show(visit: Visit, asked: Query<Asked>) -> Page {
    let translator = visit.translator();
    let discrepancies =
        Words::of("discrepancies list").option("provider", &asked.provider).option("after", &asked.after);
    let is_all = !asked.all.is_empty();
    let discrepancies = if is_all { discrepancies.switch("all") } else { discrepancies };
    let runs =
        Words::of("reconciliations list").option("provider", &asked.provider).option("before", &asked.before);
    let fields = [
        Field::of("provider", Text::Provider).hint(Text::CodeOrAllHint).value(&asked.provider),
        Field::of("after", Text::DiscrepanciesAfter).hint(Text::DiscrepanciesAfterHint).value(&asked.after),
        Field::of("before", Text::RunsBefore).hint(Text::RunsBeforeHint).value(&asked.before),
    ];
    let content = html! {
        form class="fields" method="get" action="/reconciliation" {
            @for field in fields { (field.html(translator)) }
            @if is_all { input type="hidden" name="all" value="yes"; }
            button { (translator.text(Text::Show)) }
        }
        h2 { (translator.text(Text::Discrepancies)) }
        p {
            @if is_all { a href="/reconciliation" { (translator.text(Text::OnlyOpen)) } }
            @else { a href="/reconciliation?all=yes" { (translator.text(Text::ClosedToo)) } }
        }
        (shown(&visit, discrepancies, Text::Discrepancies, to_named_purchases).await)
        (close_form(&visit))
        h2 { (translator.text(Text::Runs)) }
        (shown(&visit, runs, Text::Runs, to_reconciliations).await)
    };
    Ok(layout::page(&visit, "/reconciliation", &translator.text(Text::Reconciliation), &content))
}

pub(super) async fn show_run(visit: Visit, id: Path<i64>, asked: Query<Asked>) -> Page {
    let words = Words::of("reconciliations show").value(&id.to_string()).option("after", &asked.after);
    let report = run(&visit, words).await?;
    let translator = visit.translator();
    let after =
        Field::of("after", Text::DiscrepanciesAfter).hint(Text::DiscrepanciesAfterHint).value(&asked.after);
    let content = html! {
        (render::list_last(translator, &report, Text::Discrepancies, to_named_purchases))
        form class="fields" method="get" action={ "/reconciliation/" (id) } {
            (after.html(translator))
            button { (translator.text(Text::Show)) }
        }
    };
    let title = translator.text_with(Text::RunTitle, &[("id", &id.to_string())]);
    Ok(layout::page(&visit, "/reconciliation", &title, &content))
}

/// A rehearsal first. With its result the person decides whether it is done.
pub(super) async fn close(posted: Posted) -> Page {
    let named = posted.field("discrepancies").split([',', ' ']);
    let words = Words::of("discrepancies close").option("reason", posted.field("reason"));
    let words = named.fold(words, Words::value);
    let visit = &posted.visit;
    if posted.is_confirmed()? {
        posted.came_to(run(visit, words.switch("yes")).await)?;
        return Ok(see_other("/reconciliation"));
    }
    let report = run(visit, words.switch("dry-run")).await?;
    let translator = visit.translator();
    let numbers = [("numbers", posted.field("discrepancies"))];
    let content = html! {
        (layout::confirmation(&posted, "/reconciliation/close", Text::CloseFinally))
        p { (translator.text_with(Text::ClosingThese, &numbers)) }
        (render::list_last(translator, &report, Text::Discrepancies, to_named_purchases))
    };
    Ok(layout::page(visit, "/reconciliation", &translator.text(Text::CloseTitle), &content))
}

fn close_form(visit: &Visit) -> Markup {
    let translator = visit.translator();
    let numbers = Field::of("discrepancies", Text::Numbers).hint(Text::NumbersHint).required();
    let fields = html! { (numbers.html(translator)) (Field::reason().html(translator)) };
    let texts = (&*translator.text(Text::CloseTitle), Text::CloseNote, Text::Rehearse);
    layout::act_form(visit, "discrepancies close", "/reconciliation/close", texts, &fields)
}
