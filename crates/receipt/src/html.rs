//! The receipt as a page for browsers.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::content::{Content, Fact, TokenEntry, Tokens};

/// The look. It is in the page, because the page loads nothing.
const STYLE: &str = "body{font:1rem/1.4 sans-serif;max-width:26rem;margin:1rem auto;padding:0 1rem}\
h1,h2,.footer{text-align:center;margin:.2rem 0}h1{font-size:1.3rem}h2{font-size:1.1rem;font-weight:normal}\
h3{font-size:1rem;margin:.8rem 0 .2rem}table{width:100%;border-collapse:collapse}\
th{text-align:left;font-weight:normal;vertical-align:top}td{text-align:right;overflow-wrap:anywhere}\
th,td{padding:.1rem 0}.total th,.total td{font-weight:bold;border-top:1px solid}\
.token{font:bold 1.3rem/1.5 monospace;overflow-wrap:anywhere}section{border-top:1px dashed;margin-top:.6rem;padding-top:.4rem}\
@media print{body{margin:0;max-width:none}section{break-inside:avoid}}";

pub(crate) fn page(content: &Content) -> String {
    let page = html! {
        (DOCTYPE)
        html lang=(content.language) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light";
                title { (content.title) " - " (content.seller) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    h1 { (content.seller) }
                    h2 { (content.title) }
                    section { (facts(&content.facts)) }
                    section {
                        (tokens(&content.tokens))
                        @if let Some(units) = &content.units { (facts(std::slice::from_ref(units))) }
                    }
                    section {
                        h3 { (content.amounts_heading) }
                        (amounts(content))
                    }
                    @if !content.footer.is_empty() {
                        section class="footer" {
                            @for line in &content.footer { p { (line) } }
                        }
                    }
                }
            }
        }
    };
    page.into_string()
}

fn facts(facts: &[Fact]) -> Markup {
    html! { table { @for fact in facts { (row(fact)) } } }
}

fn amounts(content: &Content) -> Markup {
    html! {
        table {
            @for amount in &content.amounts { (row(amount)) }
            tr class="total" { th scope="row" { (content.total.label) } td { (content.total.value) } }
        }
    }
}

/// A row with its heading, so that a screen reader tells both.
fn row(fact: &Fact) -> Markup {
    html! { tr { th scope="row" { (fact.label) } td { (fact.value) } } }
}

fn tokens(tokens: &Tokens) -> Markup {
    html! {
        @match tokens {
            Tokens::None { because } => p { (because) },
            Tokens::One(token) => { (entry(token)) },
            Tokens::Several { instruction, entries } => {
                p { (instruction) }
                ol { @for token in entries { li { (entry(token)) } } }
            },
        }
    }
}

fn entry(token: &TokenEntry) -> Markup {
    html! { h3 { (token.label) } div class="token" { (token.groups) } }
}
