//! Messages that are not sent, and a new attempt at those that were given up.

use actix_web::web::Query;
use maud::{Markup, html};
use serde::Deserialize;

use super::{Page, run, see_other, shown};
use crate::{
    fields::{Field, choice},
    layout,
    render::{self, nowhere, to_named_purchases},
    text::Text,
    visit::{Posted, Visit},
    words::Words,
};

const LINES: &str = "200";

const WHICH: [(&str, Text); 3] =
    [("", Text::MessagesWaiting), ("stuck", Text::MessagesStuck), ("given-up", Text::MessagesGivenUp)];

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    which: String,
}

pub(super) async fn show(visit: Visit, asked: Query<Asked>) -> Page {
    let translator = visit.translator();
    let chosen = WHICH.into_iter().find(|(which, _)| *which == asked.which);
    let (which, caption) = chosen.unwrap_or(("", Text::MessagesWaiting));
    let words = Words::of("outbox list").option("limit", LINES);
    let words = if which.is_empty() { words } else { words.switch(which) };
    let content = html! {
        form class="fields" method="get" action="/messages" {
            (choice(translator, ("which", Text::WhichMessages), &WHICH, which))
            button { (translator.text(Text::Show)) }
        }
        (shown(&visit, words, caption, to_named_purchases).await)
        (form(&visit))
    };
    Ok(layout::page(&visit, "/messages", &translator.text(Text::Messages), &content))
}

/// A rehearsal first. With its result the person decides whether it is done.
pub(super) async fn requeue(posted: Posted) -> Page {
    let words =
        Words::of("outbox requeue").value(posted.field("purchase")).option("reason", posted.field("reason"));
    let visit = &posted.visit;
    if posted.is_confirmed() {
        run(visit, words).await?;
        return Ok(see_other("/messages"));
    }
    let report = run(visit, words.switch("dry-run")).await?;
    let translator = visit.translator();
    let content = html! {
        (layout::confirmation(&posted, "/messages/requeue", Text::RequeueFinally))
        (render::report(translator, &report, Text::Messages, nowhere))
    };
    Ok(layout::page(visit, "/messages", &translator.text(Text::RequeueTitle), &content))
}

fn form(visit: &Visit) -> Markup {
    let translator = visit.translator();
    html! {
        h2 { (translator.text(Text::RequeueTitle)) }
        p { (translator.text(Text::RequeueNote)) }
        form class="fields" method="post" action="/messages/requeue" {
            (layout::token(&visit.session))
            (Field::of("purchase", Text::PurchaseNumber).hint(Text::PurchaseNumberHint).required().html(translator))
            (Field::reason().html(translator))
            button { (translator.text(Text::Rehearse)) }
        }
    }
}
