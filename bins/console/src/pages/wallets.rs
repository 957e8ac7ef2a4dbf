//! The wallets of an organisation, and their statements.

use actix_web::web::{Path, Query};
use maud::html;
use serde::Deserialize;

use super::{Page, run, shown};
use crate::{
    fields::Field,
    layout,
    render::{self, to_named_purchases, to_organisations, to_wallets},
    text::Text,
    visit::Visit,
    words::Words,
};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    organisation: String,
    date: String,
    before: String,
}

pub(super) async fn list(visit: Visit, asked: Query<Asked>) -> Page {
    let translator = visit.translator();
    let code = asked.organisation.trim();
    let field = Field::of("organisation", Text::Organisation).hint(Text::CodeHint).value(code).required();
    let accounts = Words::of("account list").option("organisation", code);
    let content = html! {
        form class="fields" method="get" action="/wallets" {
            (field.html(translator))
            button { (translator.text(Text::ShowWallets)) }
        }
        @if code.is_empty() {
            h2 { (translator.text(Text::Organisations)) }
            (shown(&visit, Words::of("organisation list"), Text::Organisations, to_organisations).await)
        } @else {
            h2 { (translator.text_with(Text::WalletsOf, &[("code", code)])) }
            (shown(&visit, accounts, Text::Wallets, to_wallets).await)
        }
    };
    Ok(layout::page(&visit, "/wallets", &translator.text(Text::Wallets), &content))
}

pub(super) async fn show(visit: Visit, id: Path<i64>, asked: Query<Asked>) -> Page {
    let words = Words::of("wallet statement")
        .value(&id.to_string())
        .option("date", &asked.date)
        .option("before", &asked.before);
    let report = run(&visit, words).await?;
    let translator = visit.translator();
    let before = Field::of("before", Text::EntriesBefore).hint(Text::EntriesBeforeHint).value(&asked.before);
    let content = html! {
        p { (translator.text(Text::EntriesNote)) }
        (render::report(translator, &report, Text::Entries, to_named_purchases))
        form class="fields" method="get" action={ "/wallets/" (id) } {
            (Field::of("date", Text::Day).hint(Text::DayHint).value(&asked.date).html(translator))
            (before.html(translator))
            button { (translator.text(Text::Show)) }
        }
    };
    let title = translator.text_with(Text::WalletTitle, &[("id", &id.to_string())]);
    Ok(layout::page(&visit, "/wallets", &title, &content))
}
