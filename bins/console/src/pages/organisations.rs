//! Organisations: who they are, what they may buy, and the acts by which they come to it.

use actix_web::web::Path;
use maud::{Markup, html};

use super::{
    Page,
    organisation_acts::{ACTS, ADD, OrganisationAct},
    rehearsed_act::RehearsedAct,
    run, shown,
};
use crate::{
    layout,
    page_error::Fault,
    render::{self, nowhere, to_providers_of_offers, to_the_organisation, to_wallets},
    text::Text,
    visit::{Posted, Visit},
    words::Words,
};

/// The lists of an organisation.
const LISTS: [(&str, Text, render::Leads); 4] = [
    ("account list", Text::Wallets, to_wallets),
    ("offer list", Text::Offers, to_providers_of_offers),
    ("client list", Text::Clients, nowhere),
    ("user list", Text::Users, nowhere),
];

pub(super) async fn list(visit: Visit) -> Page {
    let translator = visit.translator();
    let words = Words::of("organisation list");
    let content = html! {
        (shown(&visit, words, Text::Organisations, to_the_organisation).await)
        (form(&visit, &ADD, "/organisations"))
    };
    Ok(layout::page(&visit, "/organisations", &translator.text(Text::Organisations), &content))
}

pub(super) async fn show(visit: Visit, code: Path<String>) -> Page {
    let report = run(&visit, Words::of("organisation show").value(&code)).await?;
    let translator = visit.translator();
    let content = html! {
        (render::report(translator, &report, Text::Organisations, nowhere))
        @for (command, caption, leads) in LISTS {
            h2 { (translator.text(caption)) }
            (shown(&visit, Words::of(command).option("organisation", &code), caption, leads).await)
        }
        // An allow-list may have a thousand lines.
        details {
            summary { (translator.text(Text::AllowList)) }
            (shown(&visit, Words::of("allow-list list").option("organisation", &code), Text::AllowList, nowhere).await)
        }
        @for act in &ACTS { (form(&visit, act, &format!("/organisations/{code}"))) }
    };
    let title = translator.text_with(Text::OrganisationTitle, &[("code", &code)]);
    Ok(layout::page(&visit, "/organisations", &title, &content))
}

pub(super) async fn add(posted: Posted) -> Page {
    let afterwards = format!("/organisations/{}", posted.field("code").trim());
    carry_out(&posted, &ADD, ADD.words(&posted, None), "/organisations", &afterwards).await
}

pub(super) async fn act(posted: Posted, place: Path<(String, String)>) -> Page {
    let (code, path) = place.into_inner();
    let Some(act) = ACTS.iter().find(|act| act.path == path) else {
        return Err(posted.visit.error(Fault::NoPage));
    };
    let page = format!("/organisations/{code}");
    carry_out(&posted, act, act.words(&posted, Some(&code)), &page, &page).await
}

async fn carry_out(
    posted: &Posted,
    act: &OrganisationAct,
    words: Words,
    page: &str,
    afterwards: &str,
) -> Page {
    let rehearsed = RehearsedAct {
        words,
        asks: true,
        address: &format!("{page}/{}", act.path),
        afterwards: (!act.shows_secret).then_some(afterwards),
        menu: "/organisations",
        title: &posted.visit.translator().text(act.title),
        caption: act.title,
        button: act.button,
    };
    rehearsed.page(posted).await
}

fn form(visit: &Visit, act: &OrganisationAct, page: &str) -> Markup {
    let translator = visit.translator();
    let (address, texts) =
        (format!("{page}/{}", act.path), (&*translator.text(act.title), act.note, Text::Rehearse));
    layout::act_form(visit, act.command, &address, texts, &act.fields(translator))
}
