//! The wallets of an organisation, and their statements.

use actix_web::web::{Path, Query};
use maud::html;
use serde::Deserialize;

use super::{Page, run, shown};
use crate::{
    layout,
    posted::SignedIn,
    render::{self, text_field, to_named_purchases, to_organisations, to_wallets},
    words::Words,
};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    organisation: String,
    before: String,
}

pub(super) async fn list(SignedIn(session): SignedIn, asked: Query<Asked>) -> Page {
    let code = asked.organisation.trim();
    let content = html! {
        form class="fields" method="get" action="/wallets" {
            (text_field("organisation", "Organisation", "Its code.", code, true))
            button { "Show its wallets" }
        }
        @if code.is_empty() {
            h2 { "Organisations" }
            (shown(&session, Words::of("organisation list"), "Organisations", to_organisations).await)
        } @else {
            h2 { "Wallets of " (code) }
            (shown(&session, Words::of("account list").option("organisation", code), "Wallets", to_wallets).await)
        }
    };
    Ok(layout::page(&session, "/wallets", "Wallets", &content))
}

pub(super) async fn show(SignedIn(session): SignedIn, id: Path<i64>, asked: Query<Asked>) -> Page {
    let words = Words::of("wallet statement").value(&id.to_string()).option("before", &asked.before);
    let report = run(&session, words).await?;
    let content = html! {
        p { "The newest entries first, fifty on a page." }
        (render::report(&report, "Entries", to_named_purchases))
        form class="fields" method="get" action={ "/wallets/" (id) } {
            (text_field("before", "Entries before", "The number of an entry: the last one above gives the next page.", &asked.before, false))
            button { "Show" }
        }
    };
    Ok(layout::page(&session, "/wallets", &format!("Wallet {id}"), &content))
}
