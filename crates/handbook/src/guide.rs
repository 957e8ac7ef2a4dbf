//! The guide, `docs/INTEGRATING.md`, as a page, and the client that it speaks of.

use maud::{Markup, PreEscaped, html};
use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::page::Page;

/// Where the guide's client is, as the guide links to it.
pub(crate) const CLIENT_PATH: &str = "/docs/clients/python/vendgate.py";
/// The client.
pub(crate) const CLIENT: &str = include_str!("../../../docs/clients/python/vendgate.py");

const GUIDE: &str = include_str!("../../../docs/INTEGRATING.md");

pub(crate) fn page() -> Page {
    let events = with_addresses(Parser::new_ext(GUIDE, Options::ENABLE_TABLES).collect());
    let contents = contents(&events);
    let mut text = String::new();
    pulldown_cmark::html::push_html(&mut text, events.into_iter());
    Page::to_read("Guide", &html! { (contents) (PreEscaped(text)) })
}

/// Every heading gets an address, made of its words.
fn with_addresses(mut events: Vec<Event<'_>>) -> Vec<Event<'_>> {
    let addresses: Vec<String> = headings(&events).into_iter().map(|(_, words)| address(&words)).collect();
    let mut addresses = addresses.into_iter();
    for event in &mut events {
        if let Event::Start(Tag::Heading { id, .. }) = event {
            *id = addresses.next().map(CowStr::from);
        }
    }
    events
}

/// What the guide is about, before it begins.
fn contents(events: &[Event<'_>]) -> Markup {
    let chapters = headings(events).into_iter().filter(|(level, _)| *level == HeadingLevel::H2);
    html! {
        nav.contents {
            @for (_, words) in chapters {
                a href={ "#" (address(&words)) } { (words) }
            }
        }
    }
}

fn headings(events: &[Event<'_>]) -> Vec<(HeadingLevel, String)> {
    let mut headings: Vec<(HeadingLevel, String)> = Vec::new();
    let mut inside = false;
    for event in events {
        if let Event::Start(Tag::Heading { level, .. }) = event {
            headings.push((*level, String::new()));
            inside = true;
        } else if matches!(event, Event::End(TagEnd::Heading(_))) {
            inside = false;
        } else if let (Event::Text(text) | Event::Code(text), true, Some((_, words))) =
            (event, inside, headings.last_mut())
        {
            words.push_str(text);
        }
    }
    headings
}

fn address(words: &str) -> String {
    let kept = words.chars().filter(|letter| letter.is_alphanumeric() || *letter == ' ' || *letter == '-');
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_is_found_under_its_words() {
        let events = with_addresses(Parser::new("# When `retry` is *asked*?\n\nText.\n").collect());
        let mut text = String::new();
        pulldown_cmark::html::push_html(&mut text, events.into_iter());
        assert_eq!(
            text,
            "<h1 id=\"when-retry-is-asked\">When <code>retry</code> is <em>asked</em>?</h1>\n<p>Text.</p>\n"
        );
    }
}
