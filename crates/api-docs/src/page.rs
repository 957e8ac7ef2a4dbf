//! The common parts of every page: a head, the navigation, and a policy that blocks content from other hosts.

use actix_web::{
    HttpRequest, HttpResponse,
    http::header::{CONTENT_SECURITY_POLICY, HeaderValue, REFERRER_POLICY},
};
use maud::{DOCTYPE, Markup, html};

use web::Document;

use crate::{guide::Guide, postman};

/// The policy of pages to read: their own style, and no scripts.
const TO_READ: &str = "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'";

/// The policy of the reference. It runs scripts of this server, which write styles. It sends requests to this server
/// only.
const TO_TRY: &str = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self' 'unsafe-inline'; \
    img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The policy of the search. It runs scripts of this server, which write no styles.
const TO_SEARCH: &str = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self' data:; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A page of HTML with its policy.
pub(crate) struct Page {
    document: Document,
    policy: HeaderValue,
}

impl Page {
    /// A page to read, without scripts.
    pub(crate) fn to_read(title: &str, content: &Markup) -> Self {
        Self::new(
            TO_READ,
            &html! {
                (head(title, &html! {}))
                body {
                    (navigation())
                    main { (content) }
                }
            },
        )
    }

    /// A page to read that has a script of this server.
    pub(crate) fn with_script(title: &str, in_head: &Markup, content: &Markup) -> Self {
        Self::new(
            TO_SEARCH,
            &html! {
                (head(title, in_head))
                body {
                    (navigation())
                    main { (content) }
                }
            },
        )
    }

    /// A page whose content is made by scripts.
    pub(crate) fn to_try(title: &str, in_head: &Markup, content: &Markup) -> Self {
        Self::new(
            TO_TRY,
            &html! {
                (head(title, in_head))
                body {
                    (navigation())
                    (content)
                }
            },
        )
    }

    /// The page, or 304 if the caller has it already.
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

fn navigation() -> Markup {
    html! {
        header {
            a.name href="/docs" { "Vendgate" }
            nav {
                a href=(Guide::Integrating.address()) { "Guide" }
                a href="/docs" { "Reference" }
                a href="/docs/errors" { "Error codes" }
                a href=(Guide::Migrating.address()) { "Migrating" }
                a href=(Guide::Changes.address()) { "Changes" }
                a href="/docs/search" { "Search" }
                a href="/public/v1/openapi.json" { "OpenAPI" }
                a href=(postman::PATH) download="vendgate.postman_collection.json" { "Postman" }
            }
        }
    }
}
