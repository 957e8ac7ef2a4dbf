//! The audit log.

use actix_web::web::Query;
use maud::html;
use serde::Deserialize;

use super::{Page, shown};
use crate::{fields::Field, layout, render::nowhere, text::Text, visit::Visit, words::Words};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    login: String,
    subject: String,
    organisation: String,
    since: String,
    until: String,
    before: String,
}

pub(super) async fn show(visit: Visit, asked: Query<Asked>) -> Page {
    let translator = visit.translator();
    let words = Words::of("audit list")
        .option("login", &asked.login)
        .option("subject", &asked.subject)
        .option("organisation", &asked.organisation)
        .option("since", &asked.since)
        .option("until", &asked.until)
        .option("before", &asked.before);
    let fields = [
        Field::of("login", Text::Login).hint(Text::LoginHint).value(&asked.login),
        Field::of("subject", Text::Subject).hint(Text::SubjectHint).value(&asked.subject),
        Field::of("organisation", Text::Organisation).hint(Text::CodeHint).value(&asked.organisation),
        Field::of("since", Text::Since).hint(Text::MomentHint).value(&asked.since),
        Field::of("until", Text::Until).hint(Text::MomentHint).value(&asked.until),
        Field::of("before", Text::LinesBefore).hint(Text::LinesBeforeHint).value(&asked.before),
    ];
    let content = html! {
        form class="fields" method="get" action="/audit" {
            @for field in fields { (field.html(translator)) }
            button { (translator.text(Text::Show)) }
        }
        h2 { (translator.text(Text::NewestLines)) }
        (shown(&visit, words, Text::AuditLog, nowhere).await)
    };
    Ok(layout::page(&visit, "/audit", &translator.text(Text::AuditLog), &content))
}
