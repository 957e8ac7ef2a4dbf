//! What all pages share.

use actix_web::{
    HttpResponse,
    http::{StatusCode, header::ContentType},
};
use maud::{DOCTYPE, Markup, html};
use messages::Language;
use url::form_urlencoded::byte_serialize;

use crate::{
    reader::Reader,
    sessions::OperatorSession,
    text::Text,
    translator::Translator,
    visit::{Posted, Visit},
};

/// The look, which is a file of its own: pages have no inline style.
pub(crate) const STYLE: &str = include_str!("style.css");

/// The pages of the menu.
const MENU: [(&str, Text); 13] = [
    ("/", Text::Overview),
    ("/search", Text::Search),
    ("/providers", Text::Providers),
    ("/review", Text::Review),
    ("/incidents", Text::Incidents),
    ("/messages", Text::Messages),
    ("/approvals", Text::Approvals),
    ("/organisations", Text::Organisations),
    ("/wallets", Text::Wallets),
    ("/sales", Text::Sales),
    ("/books", Text::Books),
    ("/reconciliation", Text::Reconciliation),
    ("/audit", Text::Audit),
];

/// A page of a person who is signed in. `here` is its place in the menu.
pub(crate) fn page(visit: &Visit, here: &str, title: &str, content: &Markup) -> HttpResponse {
    let translator = visit.translator();
    let operator = visit.session.commands.operator();
    let roles = operator.roles.iter().map(|role| role.word()).collect::<Vec<_>>().join(", ");
    let who = html! {
        form class="who" method="post" action="/sign-out" {
            (token(&visit.session))
            span { (operator.login) " (" (roles) ")" }
            button { (translator.text(Text::SignOut)) }
        }
    };
    let header = html! { (menu(translator, &MENU, here)) (who) };
    let zone = translator.text_with(Text::TimesAreLocal, &[("zone", visit.session.commands.zone())]);
    let content = html! { (content) p class="zone" { (zone) } };
    answer(StatusCode::OK, frame(&visit.reader, title, &header, &content))
}

/// A page without the whole menu.
pub(crate) fn outside(reader: &Reader, title: &str, content: &Markup) -> Markup {
    let header = menu(reader.translator, &[("/", Text::Overview)], "");
    frame(reader, title, &header, content)
}

fn menu(translator: Translator, pages: &[(&str, Text)], here: &str) -> Markup {
    html! {
        nav aria-label=(translator.text(Text::Pages)) {
            ul {
                @for (address, name) in pages {
                    li { a href=(address) aria-current=[(*address == here).then_some("page")] { (translator.text(*name)) } }
                }
            }
        }
    }
}

fn frame(reader: &Reader, title: &str, header: &Markup, content: &Markup) -> Markup {
    let translator = reader.translator;
    html! {
        (DOCTYPE)
        html lang=(translator.tag()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " - " (translator.text(Text::ConsoleName)) }
                link rel="stylesheet" href="/style.css";
            }
            body {
                a class="skip" href="#content" { (translator.text(Text::SkipToContent)) }
                header { (header) }
                main id="content" {
                    h1 { (title) }
                    (content)
                }
                footer { (languages(reader)) }
            }
        }
    }
}

/// The same page in every language, each named by itself.
fn languages(reader: &Reader) -> Markup {
    let back: String = byte_serialize(reader.address.as_bytes()).collect();
    html! {
        nav aria-label=(reader.translator.text(Text::Languages)) {
            ul {
                @for language in Language::ALL {
                    @let (tag, own_name) = (language.as_str(), own_name(language));
                    li {
                        a href={ "/language/" (tag) "?to=" (back) } lang=(tag) hreflang=(tag)
                            aria-current=[(language == reader.translator.0).then_some("true")] { (own_name) }
                    }
                }
            }
        }
    }
}

const fn own_name(language: Language) -> &'static str {
    match language {
        Language::English => "English",
        Language::French => "Français",
        Language::Portuguese => "Português",
    }
}

pub(crate) fn answer(status: StatusCode, body: Markup) -> HttpResponse {
    HttpResponse::build(status).insert_header(ContentType::html()).body(body.into_string())
}

/// The form that does what was rehearsed, with the same fields.
pub(crate) fn confirmation(posted: &Posted, action: &str, button: Text) -> Markup {
    posted.is_rehearsed();
    let translator = posted.visit.translator();
    html! {
        form class="fields" method="post" action=(action) {
            (token(&posted.visit.session))
            @for (name, value) in posted.typed() { input type="hidden" name=(name) value=(value); }
            p { (translator.text(Text::RehearsalBelow)) }
            p { (translator.text_with(Text::ReasonGiven, &[("reason", posted.field("reason"))])) }
            button name="step" value="do" { (translator.text(button)) }
        }
    }
}

/// The form of an act, below its title and a note. Nothing, if the person's roles do not allow its command: it would be refused.
pub(crate) fn act_form(
    visit: &Visit,
    command: &str,
    address: &str,
    (title, note, button): (&str, Text, Text),
    fields: &Markup,
) -> Markup {
    let translator = visit.translator();
    html! {
        @if visit.may(command) {
            h2 { (title) }
            p { (translator.text(note)) }
            form class="fields" method="post" action=(address) {
                (token(&visit.session))
                (fields)
                button { (translator.text(button)) }
            }
        }
    }
}

/// What every form of a session has.
pub(crate) fn token(session: &OperatorSession) -> Markup {
    html! { input type="hidden" name="form_token" value=(session.form_token()); }
}
