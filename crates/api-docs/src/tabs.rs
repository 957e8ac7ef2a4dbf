//! The same step in several languages: code blocks that follow each other directly become tabs. They are radio inputs
//! and a style, so that they need no script.

use maud::{PreEscaped, html};
use pulldown_cmark::{CodeBlockKind, Event, Tag, TagEnd};

/// The language of a code block, and the title of its tab.
const LANGUAGES: [(&str, &str); 3] = [("sh", "curl"), ("ts", "TypeScript"), ("python", "Python")];

/// A code block: its language and its text.
type Block = (&'static str, String);

/// Puts groups of blocks in these languages into tabs. Everything else stays.
pub(crate) fn in_tabs(events: Vec<Event<'_>>) -> Vec<Event<'_>> {
    let (mut out, mut group, mut groups) = (Vec::new(), Vec::new(), 0_u32);
    let mut events = events.into_iter();
    while let Some(event) = events.next() {
        let Some(title) = title_of(&event) else {
            flush(&mut group, &mut groups, &mut out);
            out.push(event);
            continue;
        };
        let mut text = String::new();
        let is_inside = |part: &Event<'_>| !matches!(part, Event::End(TagEnd::CodeBlock));
        for part in events.by_ref().take_while(is_inside) {
            if let Event::Text(part) = part {
                text.push_str(&part);
            }
        }
        // A second block of the same language is the next step.
        if group.iter().any(|(known, _): &Block| *known == title) {
            flush(&mut group, &mut groups, &mut out);
        }
        group.push((title, text));
    }
    flush(&mut group, &mut groups, &mut out);
    out
}

fn title_of(event: &Event<'_>) -> Option<&'static str> {
    let Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) = event else { return None };
    LANGUAGES.into_iter().find(|(name, _)| *name == language.as_ref()).map(|(_, title)| title)
}

fn flush(group: &mut Vec<Block>, groups: &mut u32, out: &mut Vec<Event<'_>>) {
    let blocks = std::mem::take(group);
    if blocks.is_empty() {
        return;
    }
    *groups = groups.saturating_add(1);
    let name = format!("step-{groups}");
    let tabs = html! {
        div.tabs {
            @for (index, (title, _)) in blocks.iter().enumerate() {
                @let id = format!("{name}-{title}");
                input type="radio" name=(name) id=(id) checked[index == 0];
                label for=(id) { (title) }
            }
            @for (_, text) in &blocks {
                pre { code { (text) } }
            }
        }
    };
    let PreEscaped(tabs) = tabs;
    out.push(Event::Html(tabs.into()));
}

#[cfg(test)]
mod tests {
    use pulldown_cmark::Parser;

    use super::*;

    fn page(text: &str) -> String {
        let mut page = String::new();
        pulldown_cmark::html::push_html(&mut page, in_tabs(Parser::new(text).collect()).into_iter());
        page
    }

    #[test]
    fn blocks_that_follow_each_other_are_tabs_and_the_first_one_is_open() {
        let page =
            page("One.\n\n```sh\na < b\n```\n\n```python\nc\n```\n\n```json\n{}\n```\n\n```sh\nd\n```\n");
        assert_eq!(page.matches("class=\"tabs\"").count(), 2, "{page}");
        assert_eq!(page.matches(" checked").count(), 2, "{page}");
        assert!(page.contains("<label for=\"step-1-Python\">Python</label>"), "{page}");
        assert!(
            page.contains("<pre><code>a &lt; b\n</code></pre><pre><code>c\n</code></pre></div>"),
            "{page}"
        );
        assert!(page.contains("language-json"), "{page}");
    }

    #[test]
    fn a_second_block_of_a_language_begins_another_group() {
        assert_eq!(page("```sh\na\n```\n\n```sh\nb\n```\n").matches("class=\"tabs\"").count(), 2);
    }
}
