//! Acts that wait for a second person.

use actix_web::web::{Path, Query};
use maud::{Markup, html};
use serde::Deserialize;

use super::{Page, rehearsed_act::RehearsedAct, run, see_other, shown};
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
    let told = |field: &str| report.data()[field].as_str().unwrap_or_default();
    let (waits, has_token) = (told("status") == "WAITING", !told("token_sha256").is_empty());
    let is_own = told("requested_by") == visit.session.commands.operator().login;
    let content = html! {
        (render::report(translator, &report, Text::TheRequest, nowhere))
        @if waits {
            @if !is_own && !has_token { (form(&visit, *id, "approve", (Text::Approve, Text::ApproveNote))) }
            @if !is_own && has_token && visit.may("approvals approve") {
                p { (translator.text(Text::ApproveTokenNote)) }
            }
            (form(&visit, *id, "reject", (Text::Reject, Text::RejectNote)))
        }
    };
    let title = translator.text_with(Text::RequestTitle, &[("id", &id.to_string())]);
    Ok(layout::page(&visit, "/approvals", &title, &content))
}

pub(super) async fn approve(posted: Posted, id: Path<i64>) -> Page {
    let id = id.to_string();
    let act = RehearsedAct {
        words: Words::of("approvals approve").value(&id).option("reason", posted.field("reason")),
        asks: true,
        address: &format!("/approvals/{id}/approve"),
        afterwards: Some(&format!("/approvals/{id}")),
        menu: "/approvals",
        title: &posted.visit.translator().text_with(Text::ApprovalTitle, &[("id", &id)]),
        caption: Text::TheRequest,
        button: Text::ApproveAtOnce,
    };
    act.page(&posted).await
}

pub(super) async fn reject(posted: Posted, id: Path<i64>) -> Page {
    let words = Words::of("approvals reject").value(&id.to_string()).option("reason", posted.field("reason"));
    run(&posted.visit, words).await?;
    Ok(see_other(&format!("/approvals/{id}")))
}

fn form(visit: &Visit, id: i64, verb: &str, (title, note): (Text, Text)) -> Markup {
    let translator = visit.translator();
    let (command, address) = (format!("approvals {verb}"), format!("/approvals/{id}/{verb}"));
    let fields = Field::reason().in_form(verb).html(translator);
    layout::act_form(visit, &command, &address, (&translator.text(title), note, title), &fields)
}
