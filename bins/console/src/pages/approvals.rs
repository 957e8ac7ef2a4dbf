//! Acts that wait for a second person.

use actix_web::web::{Path, Query};
use maud::{Markup, html};
use serde::Deserialize;

use super::{Page, run, see_other, shown};
use crate::{
    layout,
    posted::{Posted, SignedIn},
    render::{self, nowhere, reason_field, to_approvals},
    sessions::OperatorSession,
    words::Words,
};

#[derive(Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    all: String,
}

pub(super) async fn list(SignedIn(session): SignedIn, asked: Query<Asked>) -> Page {
    let words = Words::of("approvals list");
    let is_all = !asked.all.is_empty();
    let words = if is_all { words.switch("all") } else { words };
    let content = html! {
        p {
            @if is_all { a href="/approvals" { "Only those that wait" } }
            @else { a href="/approvals?all=yes" { "Decided and expired ones too" } }
        }
        (shown(&session, words, "Requests", to_approvals).await)
    };
    Ok(layout::page(&session, "/approvals", "Approvals", &content))
}

pub(super) async fn show(SignedIn(session): SignedIn, id: Path<i64>) -> Page {
    let report = run(&session, Words::of("approvals show").value(&id.to_string())).await?;
    let content = html! {
        (render::report(&report, "The request", nowhere))
        (form(&session, *id, "approve", "Approve", "You see the rehearsal first."))
        (form(&session, *id, "reject", "Reject", "Nothing of the request is done. You may take your own request back."))
    };
    Ok(layout::page(&session, "/approvals", &format!("Request {id}"), &content))
}

/// A rehearsal first. With its result the person decides whether it is done.
pub(super) async fn approve(posted: Posted, id: Path<i64>) -> Page {
    let words =
        Words::of("approvals approve").value(&id.to_string()).option("reason", posted.field("reason"));
    if posted.is_confirmed() {
        run(&posted.session, words.switch("yes")).await?;
        return Ok(see_other(&format!("/approvals/{id}")));
    }
    let report = run(&posted.session, words.switch("dry-run")).await?;
    let content = html! {
        (layout::confirmation(&posted, &format!("/approvals/{id}/approve"), "Approve, which does it at once"))
        (render::report(&report, "The request", nowhere))
    };
    Ok(layout::page(&posted.session, "/approvals", &format!("Approval of request {id}"), &content))
}

pub(super) async fn reject(posted: Posted, id: Path<i64>) -> Page {
    let words = Words::of("approvals reject").value(&id.to_string()).option("reason", posted.field("reason"));
    run(&posted.session, words).await?;
    Ok(see_other(&format!("/approvals/{id}")))
}

fn form(session: &OperatorSession, id: i64, verb: &str, title: &str, note: &str) -> Markup {
    html! {
        h2 { (title) }
        p { (note) }
        form class="fields" method="post" action={ "/approvals/" (id) "/" (verb) } {
            (layout::token(session))
            (reason_field(verb))
            button { (title) }
        }
    }
}
