//! What all pages share.

use actix_web::{
    HttpResponse,
    http::{StatusCode, header::ContentType},
};
use maud::{DOCTYPE, Markup, html};

use crate::{posted::Posted, sessions::OperatorSession};

/// The look, which is a file of its own: pages have no inline style.
pub(crate) const STYLE: &str = include_str!("style.css");

/// The pages of the menu.
const MENU: [(&str, &str); 8] = [
    ("/", "Overview"),
    ("/search", "Search"),
    ("/providers", "Providers"),
    ("/review", "Review"),
    ("/approvals", "Approvals"),
    ("/wallets", "Wallets"),
    ("/sales", "Sales"),
    ("/audit", "Audit"),
];

/// A page of a person who is signed in. `here` is its place in the menu.
pub(crate) fn page(session: &OperatorSession, here: &str, title: &str, content: &Markup) -> HttpResponse {
    let operator = session.commands.operator();
    let roles = operator.roles.iter().map(|role| role.word()).collect::<Vec<_>>().join(", ");
    let header = html! {
        header {
            nav aria-label="Pages" {
                ul {
                    @for (address, name) in MENU {
                        li { a href=(address) aria-current=[(address == here).then_some("page")] { (name) } }
                    }
                }
            }
            form class="who" method="post" action="/sign-out" {
                (token(session))
                span { (operator.login) " (" (roles) ")" }
                button { "Sign out" }
            }
        }
    };
    answer(StatusCode::OK, frame(title, &header, content))
}

/// A page without a menu.
pub(crate) fn outside(title: &str, content: &Markup) -> Markup {
    let header = html! { header { nav aria-label="Pages" { ul { li { a href="/" { "Overview" } } } } } };
    frame(title, &header, content)
}

fn frame(title: &str, header: &Markup, content: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " - Vendgate console" }
                link rel="stylesheet" href="/style.css";
            }
            body {
                a class="skip" href="#content" { "Skip to the content" }
                (header)
                main id="content" {
                    h1 { (title) }
                    (content)
                }
            }
        }
    }
}

pub(crate) fn answer(status: StatusCode, body: Markup) -> HttpResponse {
    HttpResponse::build(status).insert_header(ContentType::html()).body(body.into_string())
}

/// The form that does what was rehearsed, with the same fields.
pub(crate) fn confirmation(posted: &Posted, action: &str, button: &str) -> Markup {
    html! {
        form class="fields" method="post" action=(action) {
            (token(&posted.session))
            @for (name, value) in posted.typed() { input type="hidden" name=(name) value=(value); }
            p { "Below is the rehearsal. Nothing was done yet." }
            p { "Reason: " (posted.field("reason")) }
            button name="step" value="do" { (button) }
        }
    }
}

/// What every form of a session has.
pub(crate) fn token(session: &OperatorSession) -> Markup {
    html! { input type="hidden" name="form_token" value=(session.form_token()); }
}
