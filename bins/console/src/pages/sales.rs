//! What was sold, by day.

use actix_web::web::Query;
use maud::html;
use serde::Deserialize;

use super::{Page, shown};
use crate::{
    layout,
    posted::SignedIn,
    render::{choice_field, nowhere, text_field},
    words::Words,
};

const BY: [(&str, &str); 4] = [
    ("day", "Day"),
    ("day,provider", "Day and provider"),
    ("day,product", "Day and product"),
    ("day,organisation", "Day and organisation"),
];

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    date: String,
    to: String,
    by: String,
    organisation: String,
}

pub(super) async fn show(SignedIn(session): SignedIn, asked: Query<Asked>) -> Page {
    let by = if asked.by.is_empty() { "day" } else { &asked.by };
    let words = Words::of("report sales")
        .option("date", &asked.date)
        .option("to", &asked.to)
        .option("by", by)
        .option("organisation", &asked.organisation);
    let content = html! {
        form class="fields" method="get" action="/sales" {
            (text_field("date", "First day", "Such as 2026-11-01.", &asked.date, true))
            (text_field("to", "Last day", "Empty: one day.", &asked.to, false))
            (choice_field("by", "A line for each", &BY, by))
            (text_field("organisation", "Organisation", "Its code. Empty: all.", &asked.organisation, false))
            button { "Show" }
        }
        @if !asked.date.trim().is_empty() {
            h2 { "Sales" }
            (shown(&session, words, "Sales", nowhere).await)
        }
    };
    Ok(layout::page(&session, "/sales", "Sales", &content))
}
