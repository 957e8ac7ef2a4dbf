//! Finds what a caller can name: `purchases search`.

use actix_web::web::Query;
use maud::html;
use serde::Deserialize;

use super::{Page, shown};
use crate::{fields::Field, layout, render::to_purchases, text::Text, visit::Visit, words::Words};

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

    fn fields(&self) -> [Field<'_>; 7] {
        [
            Field::of("name", Text::Name).hint(Text::NameHint).value(&self.name),
            Field::of("phone", Text::PhoneOfToken).value(&self.phone),
            Field::of("amount", Text::Amount).hint(Text::AmountHint).value(&self.amount),
            Field::of("since", Text::Since).hint(Text::MomentHint).value(&self.since),
            Field::of("until", Text::Until).hint(Text::MomentHint).value(&self.until),
            Field::of("provider", Text::Provider).hint(Text::CodeHint).value(&self.provider),
            Field::of("organisation", Text::Organisation).hint(Text::CodeHint).value(&self.organisation),
        ]
    }
}

pub(super) async fn show(visit: Visit, asked: Query<Asked>) -> Page {
    let translator = visit.translator();
    let found = if asked.is_empty() {
        html! { p { (translator.text(Text::SearchNothing)) } }
    } else {
        shown(&visit, asked.words(), Text::Found, to_purchases).await
    };
    let content = html! {
        form class="fields" method="get" action="/search" role="search" {
            @for field in asked.fields() { (field.html(translator)) }
            button { (translator.text(Text::Search)) }
        }
        h2 { (translator.text(Text::Found)) }
        (found)
    };
    Ok(layout::page(&visit, "/search", &translator.text(Text::Search), &content))
}
