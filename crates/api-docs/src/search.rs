//! The search in the documentation. The server gives all sections as one list, and a script of the page looks through it.

use maud::html;
use serde::Serialize;

use error_codes::ErrorCode;
use http_v1::Endpoint;
use openapi_v1::Documented;
use web::Document;

use crate::{ServerFacts, guide::Guide, page::Page, reference};

/// Where the list of sections is. The script reads it from there.
pub(crate) const INDEX_PATH: &str = "/docs/search.json";

/// Something that can be found.
#[derive(Serialize)]
struct Entry {
    /// The page that it is on.
    page: &'static str,
    title: String,
    address: String,
    text: String,
}

/// The page with the search.
pub(crate) fn page() -> Page {
    let in_head = html! { script src="/docs/assets/search.js" defer {} };
    let content = html! {
        h1 { "Search" }
        p { input id="words" type="search" aria-label="Words" placeholder="certificate, 409, token …" autocomplete="off" autofocus; }
        p id="count" role="status" {}
        ol id="found" {}
        noscript {
            p { "The search needs JavaScript. Without it, search in " a href=(Guide::Integrating.address()) { "the guide" } ", which is one page." }
        }
    };
    Page::with_script("Search", &in_head, &content)
}

/// Every section of the guides, every endpoint and every error code.
pub(crate) fn index(facts: &ServerFacts) -> Document {
    let guides = Guide::ALL.into_iter().flat_map(|guide| {
        guide.sections(facts).into_iter().map(move |section| Entry {
            page: guide.title(),
            address: format!("{}#{}", guide.address(), section.id),
            title: section.title,
            text: section.text,
        })
    });
    let endpoints = Endpoint::ALL.into_iter().map(|endpoint| Entry {
        page: "Reference",
        title: format!("{} {}", endpoint.method(), endpoint.path()),
        address: reference::address_of(endpoint),
        text: format!("{}. {}", endpoint.summary(), endpoint.operation_id()),
    });
    let codes = ErrorCode::ALL.into_iter().map(|code| Entry {
        page: "Error codes",
        title: code.as_str().to_owned(),
        address: format!("/docs/errors/{code}"),
        text: format!("{} {} {}", code.status(), code.meaning(), code.remedy()),
    });
    let entries: Vec<Entry> = endpoints.chain(codes).chain(guides).collect();
    Document::new("application/json", serde_json::to_vec(&entries).expect("texts always serialise"))
}
