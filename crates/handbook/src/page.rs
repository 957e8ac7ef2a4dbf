//! What every page has: a head, the way to the other pages, and a policy that lets nothing in from elsewhere.

use actix_web::{
    HttpRequest, HttpResponse,
    http::header::{CONTENT_SECURITY_POLICY, HeaderValue, REFERRER_POLICY},
};
use maud::{DOCTYPE, Markup, html};

use web::Document;

use crate::guide::Guide;

/// What a page may load: its own style, and nothing that runs.
const TO_READ: &str = "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'";

/// The reference runs scripts of this server, which write styles, and speaks to this server alone.
const TO_TRY: &str = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self' 'unsafe-inline'; \
    img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A page of HTML with its policy.
pub(crate) struct Page {
    document: Document,
    policy: HeaderValue,
}

impl Page {
    /// A page to read.
    pub(crate) fn to_read(title: &str, content: &Markup) -> Self {
        Self::new(
            TO_READ,
            &html! {
                (head(title, &html! {}))
                body {
                    (ways())
                    main { (content) }
                }
            },
        )
    }

    /// A page with scripts, which fill it.
    pub(crate) fn to_try(title: &str, in_head: &Markup, content: &Markup) -> Self {
        Self::new(
            TO_TRY,
            &html! {
                (head(title, in_head))
                body {
                    (ways())
                    (content)
                }
            },
        )
    }

    /// The page, unless the caller has it already.
    pub(crate) fn answer(&self, request: &HttpRequest) -> HttpResponse {
        let mut answer = self.document.answer(request);
        let headers = answer.headers_mut();
        headers.insert(CONTENT_SECURITY_POLICY, self.policy.clone());
        headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        answer
    }

    fn new(policy: &'static str, page: &Markup) -> Self {
        let text = html! { (DOCTYPE) html lang="en" { (page) } };
        Self {
            document: Document::new("text/html; charset=utf-8", text.into_string()),
            policy: HeaderValue::from_static(policy),
        }
    }
}

fn head(title: &str, more: &Markup) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            title { (title) " · Vendgate" }
            link rel="icon" href="/docs/assets/favicon.svg";
            link rel="stylesheet" href="/docs/assets/handbook.css";
            (more)
        }
    }
}

fn ways() -> Markup {
    html! {
        header {
            a.name href="/docs" { "Vendgate" }
            nav {
                a href=(Guide::Integrating.address()) { "Guide" }
                a href="/docs" { "Reference" }
                a href="/docs/errors" { "Error codes" }
                a href=(Guide::Migrating.address()) { "Migrating" }
                a href="/public/v1/openapi.json" { "OpenAPI" }
            }
        }
    }
}
