//! Providers, and their pauses.

use actix_web::web::Path;
use maud::{Markup, html};

use super::{Page, run, see_other, shown};
use crate::{
    fields::{Field, choice},
    layout,
    render::{self, nowhere, to_providers},
    text::Text,
    visit::{Posted, Visit},
    words::Words,
};

const PRODUCTS: [(&str, Text); 4] = [
    ("", Text::EveryProduct),
    ("electricity", Text::Electricity),
    ("water", Text::Water),
    ("airtime", Text::Airtime),
];

pub(super) async fn list(visit: Visit) -> Page {
    let content = shown(&visit, Words::of("provider list"), Text::Providers, to_providers).await;
    Ok(layout::page(&visit, "/providers", &visit.translator().text(Text::Providers), &content))
}

pub(super) async fn show(visit: Visit, code: Path<String>) -> Page {
    let report = run(&visit, Words::of("provider show").value(&code)).await?;
    let translator = visit.translator();
    let content = html! {
        (render::report(translator, &report, Text::TheProvider, nowhere))
        (pause_form(&visit, &code))
        (resume_form(&visit, &code))
    };
    let title = translator.text_with(Text::ProviderTitle, &[("code", &code)]);
    Ok(layout::page(&visit, "/providers", &title, &content))
}

pub(super) async fn pause(posted: Posted, code: Path<String>) -> Page {
    let words = Words::of("provider pause")
        .value(&code)
        .option("product", posted.field("product"))
        .option("from", posted.field("from"))
        .option("until", posted.field("until"))
        .option("notice", posted.field("notice"))
        .option("reason", posted.field("reason"));
    run(&posted.visit, words).await?;
    Ok(see_other(&format!("/providers/{code}")))
}

pub(super) async fn resume(posted: Posted, code: Path<String>) -> Page {
    let words = Words::of("provider resume")
        .value(&code)
        .option("pause", posted.field("pause"))
        .option("reason", posted.field("reason"));
    run(&posted.visit, words).await?;
    Ok(see_other(&format!("/providers/{code}")))
}

fn pause_form(visit: &Visit, code: &str) -> Markup {
    let translator = visit.translator();
    html! {
        h2 { (translator.text(Text::PauseTitle)) }
        p { (translator.text(Text::PauseNote)) }
        form class="fields" method="post" action={ "/providers/" (code) "/pause" } {
            (layout::token(&visit.session))
            (choice(translator, ("product", Text::Product), &PRODUCTS, ""))
            (Field::of("from", Text::From).hint(Text::FromHint).html(translator))
            (Field::of("until", Text::Until).hint(Text::PauseUntilHint).html(translator))
            (Field::of("notice", Text::Notice).hint(Text::NoticeHint).html(translator))
            (Field::reason().in_form("pause-").html(translator))
            button { (translator.text(Text::Pause)) }
        }
    }
}

fn resume_form(visit: &Visit, code: &str) -> Markup {
    let translator = visit.translator();
    html! {
        h2 { (translator.text(Text::ResumeTitle)) }
        form class="fields" method="post" action={ "/providers/" (code) "/resume" } {
            (layout::token(&visit.session))
            (Field::of("pause", Text::PauseNumber).hint(Text::PauseNumberHint).html(translator))
            (Field::reason().in_form("resume-").html(translator))
            button { (translator.text(Text::Resume)) }
        }
    }
}
