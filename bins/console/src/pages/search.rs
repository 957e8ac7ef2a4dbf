//! Finds what a caller can name: `purchases search`.

use actix_web::web::Query;
use maud::html;
use serde::Deserialize;

use super::{Page, shown};
use crate::{
    layout,
    posted::SignedIn,
    render::{text_field, to_purchases},
    words::Words,
};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    name: String,
    phone: String,
    amount: String,
    since: String,
    until: String,
    provider: String,
    organisation: String,
}

impl Asked {
    fn is_empty(&self) -> bool {
        [&self.name, &self.since].iter().all(|field| field.trim().is_empty())
    }

    fn words(&self) -> Words {
        Words::of("purchases search")
            .value(&self.name)
            .option("phone", &self.phone)
            .option("amount", &self.amount)
            .option("since", &self.since)
            .option("until", &self.until)
            .option("provider", &self.provider)
            .option("organisation", &self.organisation)
    }
}

pub(super) async fn show(SignedIn(session): SignedIn, asked: Query<Asked>) -> Page {
    let found = if asked.is_empty() {
        html! { p { "Type what the caller can name, or a moment since when." } }
    } else {
        shown(&session, asked.words(), "What was found", to_purchases).await
    };
    let moment = "Such as 2026-11-20 14:00, or a day.";
    let content = html! {
        form class="fields" method="get" action="/search" role="search" {
            (text_field("name", "Name", "A meter, a phone, a receipt or its number, a reference, or the provider's transaction.", &asked.name, false))
            (text_field("phone", "Phone of the token", "", &asked.phone, false))
            (text_field("amount", "Amount", "Such as 100.00.", &asked.amount, false))
            (text_field("since", "Since", moment, &asked.since, false))
            (text_field("until", "Until", moment, &asked.until, false))
            (text_field("provider", "Provider", "Its code.", &asked.provider, false))
            (text_field("organisation", "Organisation", "Its code.", &asked.organisation, false))
            button { "Search" }
        }
        h2 { "Found" }
        (found)
    };
    Ok(layout::page(&session, "/search", "Search", &content))
}
