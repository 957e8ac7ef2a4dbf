//! The page as Markdown.

use std::fmt::Write as _;

use crate::keys::{Heading, Key, Kind, Step, Unset};

/// What the page says before the first section.
const INTRODUCTION: &str = include_str!("introduction.md");

/// A section of a program, and each of its settings with the values that are allowed.
pub struct Listed {
    pub heading: Heading,
    pub settings: Vec<(Key, String)>,
}

/// The page. Sections that are the same in several programs are listed once.
pub fn page(programs: Vec<(&'static str, Vec<Listed>)>) -> String {
    let mut sections: Vec<(Vec<&str>, Listed)> = Vec::new();
    for (program, listed) in programs {
        for section in listed.into_iter().filter(|section| !section.settings.is_empty()) {
            let is_same = |other: &Listed| {
                other.heading.path == section.heading.path && other.settings == section.settings
            };
            match sections.iter_mut().find(|(_, earlier)| is_same(earlier)) {
                Some((readers, _)) => readers.push(program),
                None => sections.push((vec![program], section)),
            }
        }
    }
    let mut page = INTRODUCTION.to_owned();
    for (readers, section) in &sections {
        write_section(&mut page, readers, section);
    }
    page
}

fn write_section(page: &mut String, readers: &[&str], section: &Listed) {
    let path = &section.heading.path;
    let title = match path.last() {
        None => "No section".to_owned(),
        Some(Step::Entry) => format!("`[[{}]]`", written(path)),
        Some(Step::Named(_) | Step::Chosen) => format!("`[{}]`", written(path)),
    };
    let readers: Vec<String> = readers.iter().map(|reader| format!("`{reader}`")).collect();
    let meaning = escaped(&section.heading.meaning);
    let intro = format!("{meaning} Read by {}.", readers.join(" and "));
    let _infallible = write!(page, "\n## {title}\n\n{}\n\n", intro.trim());
    page.push_str("| Setting | Type | Default | Allowed | Meaning |\n|---|---|---|---|---|\n");
    for (key, allowed) in &section.settings {
        let name = written(&key.path[key.heading..]);
        let row = [
            format!("`{name}`<br>{}", variable(key)),
            kind(&key.kind, &name),
            default(key, &name),
            if allowed.is_empty() { any(&key.kind) } else { escaped(allowed) },
            meaning_of(key),
        ];
        let _infallible = writeln!(page, "| {} |", row.join(" | "));
    }
}

fn written(path: &[Step]) -> String {
    let names = path.iter().filter_map(|step| match step {
        Step::Named(name) => Some(name.as_str()),
        Step::Chosen => Some("<code>"),
        Step::Entry => None,
    });
    names.collect::<Vec<_>>().join(".")
}

/// The environment variable. The environment has no lists.
fn variable(key: &Key) -> String {
    let is_text_there = key.path.last() == Some(&Step::Named("trusted_proxies".to_owned()));
    let is_list = key.path.contains(&Step::Entry) || matches!(key.kind, Kind::Texts | Kind::Integers(_));
    if is_list && !is_text_there {
        return "in the file only".to_owned();
    }
    format!("`VENDGATE__{}`", written(&key.path).replace('.', "__").to_uppercase())
}

fn kind(kind: &Kind, name: &str) -> String {
    let unit = unit(name);
    match kind {
        Kind::Integer { .. } if unit.is_empty() => "integer".to_owned(),
        Kind::Integer { .. } => format!("integer, {unit}"),
        Kind::Integers(number) => format!("{number} integers, {unit}"),
        Kind::Truth => "`true` or `false`".to_owned(),
        Kind::Text => "text".to_owned(),
        Kind::Secret => "text, secret".to_owned(),
        Kind::Texts => "list of texts".to_owned(),
        Kind::Words(_) => "one of the words".to_owned(),
    }
}

fn unit(name: &str) -> &'static str {
    match name {
        _ if name.ends_with("_ms") => "milliseconds",
        _ if name.ends_with("_s") => "seconds",
        _ if name.contains("bytes") => "bytes",
        _ => "",
    }
}

fn default(key: &Key, name: &str) -> String {
    match &key.default {
        Unset::Required if key.is_alternative => "required, or its alternative".to_owned(),
        Unset::Required => "required".to_owned(),
        Unset::Absent => "not set".to_owned(),
        Unset::Value(value) => {
            let time = value.parse().ok().and_then(|number| duration(number, unit(name)));
            let value =
                if value.starts_with(['"', '[']) || value.parse::<u64>().is_ok() || key.kind == Kind::Truth {
                    value.clone()
                } else {
                    format!("{value:?}")
                };
            time.map_or_else(|| format!("`{value}`"), |time| format!("`{value}` ({time})"))
        }
    }
}

/// A length of time in the largest unit of which it is a whole number, if that is not the unit of the setting.
fn duration(number: u64, unit: &str) -> Option<String> {
    let seconds = match unit {
        "milliseconds" if number.is_multiple_of(1_000) => number / 1_000,
        "seconds" => number,
        _ => return None,
    };
    let units = [(3_600, "h"), (60, "min"), (1, "s")];
    let (length, larger) =
        units.into_iter().find(|(length, _)| seconds > 0 && seconds.is_multiple_of(*length))?;
    (larger != "s" || unit != "seconds").then(|| format!("{} {larger}", seconds / length))
}

fn any(kind: &Kind) -> String {
    match kind {
        Kind::Words(words) => {
            let words: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
            words.join(", ")
        }
        Kind::Truth => "both".to_owned(),
        Kind::Integer { .. } | Kind::Integers(_) | Kind::Text | Kind::Secret | Kind::Texts => {
            "any".to_owned()
        }
    }
}

fn meaning_of(key: &Key) -> String {
    let mut meaning = key.meaning.clone();
    if let Kind::Words(words) = &key.kind {
        for (word, says) in words.iter().filter(|(_, says)| !says.is_empty()) {
            let _infallible = write!(meaning, " `{word}`: {says}");
        }
    }
    escaped(&meaning)
}

/// A text in a cell of a table.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ").trim().to_owned()
}
