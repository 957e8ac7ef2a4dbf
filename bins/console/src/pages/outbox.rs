//! Messages that are not sent, and a new attempt at those that were given up.

use actix_web::web::Query;
use maud::{Markup, html};
use serde::Deserialize;

use super::{Page, rehearsed_act::RehearsedAct, shown};
use crate::{
    fields::{Field, choice},
    layout,
    render::to_named_purchases,
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

pub(super) async fn requeue(posted: Posted) -> Page {
    let act = RehearsedAct {
        words: Words::of("outbox requeue")
            .value(posted.field("purchase"))
            .option("reason", posted.field("reason")),
        asks: false,
        address: "/messages/requeue",
        afterwards: Some("/messages"),
        menu: "/messages",
        title: &posted.visit.translator().text(Text::RequeueTitle),
        caption: Text::Messages,
        button: Text::RequeueFinally,
    };
    act.page(&posted).await
}

fn form(visit: &Visit) -> Markup {
    let translator = visit.translator();
    let purchase = Field::of("purchase", Text::PurchaseNumber).hint(Text::PurchaseNumberHint).required();
    let fields = html! { (purchase.html(translator)) (Field::reason().html(translator)) };
    let texts = (&*translator.text(Text::RequeueTitle), Text::RequeueNote, Text::Rehearse);
    layout::act_form(visit, "outbox requeue", "/messages/requeue", texts, &fields)
}
