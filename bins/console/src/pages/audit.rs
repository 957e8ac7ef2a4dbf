//! The audit log.

use actix_web::web::Query;
use maud::html;
use serde::Deserialize;

use super::{Page, shown};
use crate::{
    layout,
    posted::SignedIn,
    render::{nowhere, text_field},
    words::Words,
};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    login: String,
    subject: String,
    organisation: String,
    before: String,
}

pub(super) async fn show(SignedIn(session): SignedIn, asked: Query<Asked>) -> Page {
    let words = Words::of("audit list")
        .option("login", &asked.login)
        .option("subject", &asked.subject)
        .option("organisation", &asked.organisation)
        .option("before", &asked.before);
    let content = html! {
        form class="fields" method="get" action="/audit" {
            (text_field("login", "Login", "Of one person.", &asked.login, false))
            (text_field("subject", "Subject", "Such as purchase:4217 or provider:BPC.", &asked.subject, false))
            (text_field("organisation", "Organisation", "Its code.", &asked.organisation, false))
            (text_field("before", "Lines before", "The last number shown gives the next page.", &asked.before, false))
            button { "Show" }
        }
        h2 { "The newest lines" }
        (shown(&session, words, "Audit log", nowhere).await)
    };
    Ok(layout::page(&session, "/audit", "Audit log", &content))
}
