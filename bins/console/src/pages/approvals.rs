//! Acts that wait for a second person.

use actix_web::web::{Path, Query};
use maud::{Markup, html};
use serde::Deserialize;

use super::{Page, run, see_other, shown};
use crate::{
    fields::Field,
    layout,
    render::{self, nowhere, to_approvals},
    text::Text,
    visit::{Posted, Visit},
    words::Words,
};

#[derive(Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    all: String,
}

pub(super) async fn list(visit: Visit, asked: Query<Asked>) -> Page {
    let translator = visit.translator();
    let words = Words::of("approvals list");
    let is_all = !asked.all.is_empty();
    let words = if is_all { words.switch("all") } else { words };
    let content = html! {
        p {
            @if is_all { a href="/approvals" { (translator.text(Text::OnlyWaiting)) } }
            @else { a href="/approvals?all=yes" { (translator.text(Text::DecidedToo)) } }
        }
        (shown(&visit, words, Text::Requests, to_approvals).await)
    };
    Ok(layout::page(&visit, "/approvals", &translator.text(Text::Approvals), &content))
}

pub(super) async fn show(visit: Visit, id: Path<i64>) -> Page {
    let report = run(&visit, Words::of("approvals show").value(&id.to_string())).await?;
    let translator = visit.translator();
    let content = html! {
        (render::report(translator, &report, Text::TheRequest, nowhere))
        (form(&visit, *id, "approve", (Text::Approve, Text::ApproveNote)))
        (form(&visit, *id, "reject", (Text::Reject, Text::RejectNote)))
    };
    let title = translator.text_with(Text::RequestTitle, &[("id", &id.to_string())]);
    Ok(layout::page(&visit, "/approvals", &title, &content))
}

/// A rehearsal first. With its result the person decides whether it is done.
pub(super) async fn approve(posted: Posted, id: Path<i64>) -> Page {
    let visit = &posted.visit;
    let words =
        Words::of("approvals approve").value(&id.to_string()).option("reason", posted.field("reason"));
    if posted.is_confirmed() {
        run(visit, words.switch("yes")).await?;
        return Ok(see_other(&format!("/approvals/{id}")));
    }
    let report = run(visit, words.switch("dry-run")).await?;
    let translator = visit.translator();
    let content = html! {
        (layout::confirmation(&posted, &format!("/approvals/{id}/approve"), Text::ApproveAtOnce))
        (render::report(translator, &report, Text::TheRequest, nowhere))
    };
    let title = translator.text_with(Text::ApprovalTitle, &[("id", &id.to_string())]);
    Ok(layout::page(visit, "/approvals", &title, &content))
}

pub(super) async fn reject(posted: Posted, id: Path<i64>) -> Page {
    let words = Words::of("approvals reject").value(&id.to_string()).option("reason", posted.field("reason"));
    run(&posted.visit, words).await?;
    Ok(see_other(&format!("/approvals/{id}")))
}

fn form(visit: &Visit, id: i64, verb: &str, (title, note): (Text, Text)) -> Markup {
    let translator = visit.translator();
    html! {
        h2 { (translator.text(title)) }
        p { (translator.text(note)) }
        form class="fields" method="post" action={ "/approvals/" (id) "/" (verb) } {
            (layout::token(&visit.session))
            (Field::reason().in_form(verb).html(translator))
            button { (translator.text(title)) }
        }
    }
}
