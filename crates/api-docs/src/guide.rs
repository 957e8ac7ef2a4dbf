//! The guides in `docs/` as pages, and the client program to which one of them refers.

use std::borrow::Cow;

use maud::{Markup, PreEscaped, html};
use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::{
    facts::{BEGINNING, ServerFacts},
    page::Page,
    tabs::in_tabs,
};

/// The path of the client program, as [`Guide::Integrating`] links to it.
pub(crate) const CLIENT_PATH: &str = "/docs/clients/python/vendgate.py";
/// The source of the client program.
pub(crate) const CLIENT: &str = include_str!("../../../docs/clients/python/vendgate.py");

/// A document for integrators that is also a page.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Guide {
    /// A complete integration, step by step.
    Integrating,
    /// A comparison of both surfaces.
    Migrating,
    /// What has changed in the API.
    Changes,
}

/// A part of a guide with a heading.
pub(crate) struct Section {
    /// The id of its heading.
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) text: String,
}

impl Guide {
    /// Every guide.
    pub(crate) const ALL: [Self; 3] = [Self::Integrating, Self::Migrating, Self::Changes];

    /// The path of the page.
    pub(crate) const fn address(self) -> &'static str {
        match self {
            Self::Integrating => "/docs/guide",
            Self::Migrating => "/docs/migrating",
            Self::Changes => "/docs/changes",
        }
    }

    /// Renders the page of the server with these settings.
    pub(crate) fn page(self, facts: &ServerFacts) -> Page {
        let text = with_facts(self.text(), facts);
        let events = Parser::new_ext(&text, Options::ENABLE_TABLES).map(link_to_page).collect();
        let events = in_tabs(with_addresses(events));
        let contents = contents(&events);
        let mut text = String::new();
        pulldown_cmark::html::push_html(&mut text, events.into_iter());
        Page::to_read(self.title(), &html! { (contents) (PreEscaped(text)) })
    }

    /// Its sections, for the search: the text from each heading to the next.
    pub(crate) fn sections(self, facts: &ServerFacts) -> Vec<Section> {
        let text = with_facts(self.text(), facts);
        let events: Vec<_> = Parser::new_ext(&text, Options::ENABLE_TABLES).collect();
        let mut sections: Vec<Section> = Vec::new();
        let mut titles = headings(&events).into_iter();
        let mut in_heading = false;
        for event in &events {
            if let Event::Start(Tag::Heading { .. }) = event {
                let title = titles.next().map(|(_, words)| words).unwrap_or_default();
                sections.push(Section { id: address(&title), title, text: String::new() });
                in_heading = true;
            } else if matches!(event, Event::End(TagEnd::Heading(_))) {
                in_heading = false;
            } else if let (Some(section), false) = (sections.last_mut(), in_heading) {
                if let Event::Text(text) | Event::Code(text) = event {
                    section.text.push_str(text);
                } else if matches!(event, Event::End(_) | Event::SoftBreak | Event::HardBreak) {
                    // Words of neighbouring lines and cells are not one word.
                    section.text.push(' ');
                }
            }
        }
        sections
    }

    /// What it is called in the navigation.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Integrating => "Guide",
            Self::Migrating => "Migrating",
            Self::Changes => "Changes",
        }
    }

    /// The file name that the guides use in links to each other. They are in the same folder.
    const fn file(self) -> &'static str {
        match self {
            Self::Integrating => "INTEGRATING.md",
            Self::Migrating => "MIGRATING.md",
            Self::Changes => "API-CHANGES.md",
        }
    }

    const fn text(self) -> &'static str {
        match self {
            Self::Integrating => include_str!("../../../docs/INTEGRATING.md"),
            Self::Migrating => include_str!("../../../docs/MIGRATING.md"),
            Self::Changes => include_str!("../../../docs/API-CHANGES.md"),
        }
    }
}

/// The text with the numbers of this server in place of the defaults.
fn with_facts<'text>(text: &'text str, facts: &ServerFacts) -> Cow<'text, str> {
    let Some((before, rest)) = text.split_once(BEGINNING) else { return Cow::Borrowed(text) };
    let after = rest.split_once("\n\n").map_or("", |(_defaults, after)| after);
    Cow::Owned(format!("{before}{}\n{after}", facts.table()))
}

/// Replaces a link to the file of a guide by a link to its page.
fn link_to_page(mut event: Event<'_>) -> Event<'_> {
    if let Event::Start(Tag::Link { dest_url, .. }) = &mut event {
        let (file, fragment) = dest_url.split_at(dest_url.find('#').unwrap_or(dest_url.len()));
        if let Some(guide) = Guide::ALL.into_iter().find(|guide| guide.file() == file) {
            *dest_url = CowStr::from(format!("{}{fragment}", guide.address()));
        }
    }
    event
}

/// Gives every heading an id, made of its words.
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

/// The table of contents of a guide.
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

    #[test]
    fn a_link_to_the_file_of_a_guide_leads_to_its_page_and_no_other_link_is_touched() {
        for (written, read) in [
            ("MIGRATING.md", "/docs/migrating"),
            ("INTEGRATING.md#when-no-answer-comes", "/docs/guide#when-no-answer-comes"),
            ("#money", "#money"),
            ("clients/python/vendgate.py", "clients/python/vendgate.py"),
            ("operations/INTEGRATING.md", "operations/INTEGRATING.md"),
        ] {
            let words = format!("[there]({written})");
            let mut text = String::new();
            pulldown_cmark::html::push_html(&mut text, Parser::new(&words).map(link_to_page));
            assert_eq!(text, format!("<p><a href=\"{read}\">there</a></p>\n"));
        }
    }
}
