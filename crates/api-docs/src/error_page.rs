//! The pages behind `doc_url`. They are made from the same table as the errors themselves.

use maud::{Markup, PreEscaped, html};
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use error_codes::{Decision, ErrorCode, ErrorType, Retryable};
use http_v1::Endpoint;

use crate::{guide::Guide, page::Page, reference};

/// The page with all codes, grouped by type.
pub(crate) fn index() -> Page {
    Page::to_read(
        "Error codes",
        &html! {
            h1 { "Error codes" }
            p {
                "Every error has the root object " code { "error" } ". Branch on its " code { "type" } ", then on its "
                code { "code" } ", and trust its " code { "retryable" } ". The codes are stable: their names and meanings do not change."
            }
            p {
                "On the Current surface a code is the " code { "response_code" } " of the error, and the field at fault is a name in "
                code { "errors" } "; see " a href=(Guide::Migrating.address()) { "Migrating" } "."
            }
            @for kind in ErrorType::ALL {
                h2 id=(kind) { code { (kind) } " " span.status { (kind.status()) } }
                table {
                    tbody {
                        @for code in ErrorCode::ALL.into_iter().filter(|code| code.error_type() == kind) {
                            tr {
                                th scope="row" { a href={ "/docs/errors/" (code) } { code { (code) } } }
                                td { (code.meaning()) }
                            }
                        }
                    }
                }
            }
        },
    )
}

/// The page of one code.
pub(crate) fn of(code: ErrorCode) -> Page {
    Page::to_read(
        code.as_str(),
        &html! {
            h1 { code { (code) } }
            p { (code.meaning()) }
            h2 { "What to do" }
            p { (code.remedy()) }
            @for (endpoint, decision) in decisions(code) {
                h3 { "After " code { (endpoint.path()) } }
                dl {
                    dt { "The money" } dd { (inline(decision.money.sentence())) }
                    dt { "What to do now" } dd { (inline(decision.action.sentence())) }
                    dt { "external_reference" } dd { (decision.reference().as_str()) }
                }
            }
            h2 { "How it is told" }
            dl {
                dt { "HTTP status" } dd { (code.status()) }
                dt { "type" } dd { code { (code.error_type()) } }
                dt { "retryable" } dd { (retryable(code)) }
                dt { "param" } dd { (param(code)) }
            }
            h2 { "Who answers it" }
            ul {
                @for endpoint in Endpoint::ALL.into_iter().filter(|endpoint| endpoint.codes().contains(&code)) {
                    li {
                        a href=(reference::address_of(endpoint)) { code { (endpoint.method()) " " (endpoint.path()) } }
                    }
                }
            }
            p { a href="/docs/errors" { "All error codes" } }
        },
    )
}

/// What the code means for the money of a sale, after each call that is about money.
fn decisions(code: ErrorCode) -> impl Iterator<Item = (Endpoint, Decision)> {
    Endpoint::ALL.into_iter().filter_map(move |endpoint| Some((endpoint, endpoint.decision(code)?)))
}

/// A sentence in Markdown, without a paragraph around it.
fn inline(sentence: &str) -> Markup {
    let events = Parser::new(sentence)
        .filter(|event| !matches!(event, Event::Start(Tag::Paragraph) | Event::End(TagEnd::Paragraph)));
    let mut text = String::new();
    pulldown_cmark::html::push_html(&mut text, events);
    PreEscaped(text)
}

fn retryable(code: ErrorCode) -> Markup {
    match code.retryable() {
        Retryable::Always => html! { code { "true" } },
        Retryable::Never => html! { code { "false" } },
        Retryable::WhenProviderHinted => {
            html! { code { "true" } " where the provider hinted that its refusal is passing, else " code { "false" } }
        }
    }
}

fn param(code: ErrorCode) -> Markup {
    html! {
        @if let Some(param) = code.usual_param() {
            code { (param) }
        } @else {
            "the field concerned, where there is one, else " code { "null" }
        }
    }
}
