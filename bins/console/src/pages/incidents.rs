//! Vends that were found after the end of their purchase.

use actix_web::web::{Path, Query};
use maud::html;
use serde::Deserialize;

use super::{Page, rehearsed_act::RehearsedAct, run, shown};
use crate::{
    fields::Field,
    layout,
    render::{self, to_incidents, to_named_purchases},
    text::Text,
    visit::{Posted, Visit},
    words::Words,
};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    all: String,
}

pub(super) async fn list(visit: Visit, asked: Query<Asked>) -> Page {
    let translator = visit.translator();
    let is_all = !asked.all.is_empty();
    let words = Words::of("incidents list");
    let words = if is_all { words.switch("all") } else { words };
    let content = html! {
        p {
            @if is_all { a href="/incidents" { (translator.text(Text::OnlyOpen)) } }
            @else { a href="/incidents?all=yes" { (translator.text(Text::ClosedToo)) } }
        }
        (shown(&visit, words, Text::Incidents, to_incidents).await)
    };
    Ok(layout::page(&visit, "/incidents", &translator.text(Text::Incidents), &content))
}

pub(super) async fn show(visit: Visit, id: Path<i64>) -> Page {
    let id = id.to_string();
    let report = run(&visit, Words::of("incidents show").value(&id)).await?;
    let translator = visit.translator();
    let is_open = report.data()["closed_at"].is_null();
    let texts = (&*translator.text(Text::CloseIncidentTitle), Text::CloseIncidentNote, Text::Rehearse);
    let content = html! {
        (render::report(translator, &report, Text::Incidents, to_named_purchases))
        @if is_open {
            (layout::act_form(&visit, "incidents close", &format!("/incidents/{id}/close"), texts, &Field::reason().html(translator)))
        }
    };
    let title = translator.text_with(Text::IncidentTitle, &[("id", &id)]);
    Ok(layout::page(&visit, "/incidents", &title, &content))
}

pub(super) async fn close(posted: Posted, id: Path<i64>) -> Page {
    let id = id.to_string();
    let act = RehearsedAct {
        words: Words::of("incidents close").value(&id).option("reason", posted.field("reason")),
        asks: true,
        address: &format!("/incidents/{id}/close"),
        afterwards: Some(&format!("/incidents/{id}")),
        menu: "/incidents",
        title: &posted.visit.translator().text_with(Text::IncidentTitle, &[("id", &id)]),
        caption: Text::Incidents,
        button: Text::CloseFinally,
    };
    act.page(&posted).await
}
