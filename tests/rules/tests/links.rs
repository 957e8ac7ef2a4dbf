//! Links between documents: a reader who follows one arrives.

use std::path::Path;

use crate::source::{assert_none, files_named, root};

/// A part of another document, which is read from the directory of that one.
const PARTS: [&str; 1] = ["bins/api-server/tests/settings_reference/introduction.md"];

#[test]
fn every_link_of_a_document_leads_to_a_file_and_to_a_heading() {
    let documents = files_named(".md").into_iter();
    let mut broken = Vec::new();
    for document in documents.filter(|document| !PARTS.contains(&document.path.as_str())) {
        let links = targets(&document.text).filter(|target| !target.contains("://"));
        broken.extend(
            links
                .filter(|target| !leads_somewhere(&document.path, target))
                .map(|target| format!("{}: {target}", document.path)),
        );
    }
    assert_none(&broken, "These links lead to no file of the project, or to no heading in it:");
}

/// What stands in `](…)`.
fn targets(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split_once(')').map(|(target, _)| target))
}

fn leads_somewhere(from: &str, target: &str) -> bool {
    let (path, heading) = target.split_once('#').unwrap_or((target, ""));
    let directory = root().join(from);
    let file =
        if path.is_empty() { directory } else { directory.parent().unwrap_or(Path::new("")).join(path) };
    if heading.is_empty() || file.extension().is_none_or(|extension| extension != "md") {
        return file.exists();
    }
    std::fs::read_to_string(file).is_ok_and(|text| headings(&text).any(|slug| slug == heading))
}

/// The names under which the headings of a document are linked: in small letters, with hyphens for spaces and without other signs.
fn headings(text: &str) -> impl Iterator<Item = String> {
    let titles = text.lines().filter(|line| line.starts_with('#'));
    titles.map(|line| {
        let kept = line.trim_start_matches('#').trim().chars().filter_map(|letter| match letter {
            ' ' => Some('-'),
            '-' | '_' => Some(letter),
            letter => letter.is_alphanumeric().then(|| letter.to_ascii_lowercase()),
        });
        kept.collect()
    })
}

#[test]
fn a_heading_is_linked_by_its_letters() {
    let slugs: Vec<String> = headings("# The `roles`, of operators\ntext\n## What we don't do\n").collect();
    assert_eq!(slugs, ["the-roles-of-operators", "what-we-dont-do"]);
}
