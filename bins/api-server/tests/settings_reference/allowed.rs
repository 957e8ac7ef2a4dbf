//! The values that a program allows, found by asking the check that `--check-settings` makes.

use std::{fs, path::PathBuf};

use boot::{MistakeKind, SettingsError};

use crate::keys::{Key, Kind, Step, Unset};

/// A program whose settings can be checked without starting it.
pub struct Checked {
    pub name: &'static str,
    /// A file with all that is required and nothing else, as lines of a dotted key and a value.
    pub required: &'static [(&'static str, &'static str)],
    /// The same for the sections that may be absent.
    pub optional: &'static [&'static [(&'static str, &'static str)]],
    /// Reads and checks a file. The settings are returned as `Debug` shows them.
    pub check: fn(PathBuf) -> Result<String, SettingsError>,
}

type Lines = Vec<(String, String)>;

impl Checked {
    /// The settings with every section, as `Debug` shows them.
    pub fn shown(&self) -> String {
        self.ask(&self.lines(|_line| true)).unwrap_or_else(|why| panic!("{}: {why}", self.name))
    }

    /// What the check says about the values that the setting may have, if it refuses any.
    pub fn allowed(&self, key: &Key, all: &[Key]) -> String {
        match &key.kind {
            Kind::Integer { max } => self.range(key, all, *max),
            Kind::Text | Kind::Secret => match ["\"?\"", "\"\""].map(|text| self.refusal(key, all, text)) {
                [Some(sentence), _] => about_a_text(&sentence),
                [None, Some(_)] => "not empty".to_owned(),
                [None, None] => String::new(),
            },
            Kind::Texts => self.refusal(key, all, "[\"?\"]").as_deref().map(about_a_text).unwrap_or_default(),
            Kind::Integers(number) => {
                let falling: Vec<String> = (0..*number).rev().map(|value| value.to_string()).collect();
                let falling = format!("[{}]", falling.join(", "));
                self.refusal(key, all, &falling)
                    .map(|why| format!("refuses {falling}: {why}"))
                    .unwrap_or_default()
            }
            Kind::Truth | Kind::Words(_) => String::new(),
        }
    }

    /// The least and the greatest number that pass, and why the next ones do not.
    fn range(&self, key: &Key, all: &[Key], max: u64) -> String {
        let passes = |value: u64| self.refusal(key, all, &value.to_string()).is_none();
        let known = match &key.default {
            Unset::Value(shown) => shown.parse().unwrap(),
            Unset::Required | Unset::Absent => 1,
        };
        if let Some(sentence) = self.refusal(key, all, &known.to_string()) {
            return format!("nothing: {sentence}");
        }
        let least = if passes(0) { 0 } else { boundary(known, 0, passes) };
        let greatest = if passes(max) { max } else { boundary(known, max, passes) };
        let mut range = match (least, greatest) {
            (0, greatest) if greatest == max && max > u64::from(u16::MAX) => return String::new(),
            (least, greatest) if greatest == max && max > u64::from(u16::MAX) => format!("at least {least}"),
            (0, greatest) => format!("at most {greatest}"),
            (least, greatest) => format!("{least} to {greatest}"),
        };
        let beyond = [least.checked_sub(1), greatest.checked_add(1).filter(|next| *next <= max)];
        for next in beyond.into_iter().flatten() {
            let reason = self.refusal(key, all, &next.to_string()).unwrap_or_default();
            let is_known = ["at least ", "at most ", "from "].iter().any(|words| reason.contains(words));
            if !is_known && !range.contains(&reason) {
                range = format!("{range}; {reason}");
            }
        }
        range
    }

    /// What the check says about this value of this setting, beside the defaults of all others.
    fn refusal(&self, key: &Key, all: &[Key], value: &str) -> Option<String> {
        let name = dotted(&key.path);
        let mut lines = self.lines(|line| is_near(&name, line));
        let (section, _) = name.rsplit_once('.').unwrap_or_default();
        lines.retain(|(line, _)| *line != name && !(key.is_alternative && line.starts_with(section)));
        lines.extend(siblings(key, all));
        lines.push((name, value.to_owned()));
        self.ask(&lines).err()
    }

    fn lines(&self, is_needed: impl Fn(&str) -> bool) -> Lines {
        let optional = self.optional.concat().into_iter().filter(|(line, _)| is_needed(line));
        let all = self.required.iter().copied().chain(optional);
        all.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
    }

    fn ask(&self, lines: &Lines) -> Result<String, String> {
        let lines: Vec<String> = lines.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("asked-{}.toml", self.name));
        fs::write(&file, lines.join("\n")).unwrap();
        (self.check)(file).map_err(|error| match error {
            SettingsError::Mistaken { mistakes, .. } => match mistakes.into_iter().next().unwrap().kind {
                MistakeKind::Wrong(what) => what.rsplit("cannot be used: ").next().unwrap().to_owned(),
                MistakeKind::Missing => "another setting is missing".to_owned(),
                MistakeKind::Unknown(_) => panic!("the reference names a setting that does not exist"),
            },
            SettingsError::Unreadable { what } => panic!("{what}"),
        })
    }
}

/// The key in a file. Where the operator chooses a name, it is one of the names in the lines of the programs.
fn dotted(path: &[Step]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for (place, step) in path.iter().enumerate() {
        names.push(match step {
            Step::Named(name) => name,
            Step::Chosen if path.get(place + 1) == Some(&Step::Named("reloadly".to_owned())) => "airtime",
            Step::Chosen if path.get(place + 1) == Some(&Step::Named("vtpass".to_owned())) => "ikeja",
            Step::Chosen => "bpc",
            Step::Entry => panic!("what is in a list cannot be asked for alone"),
        });
    }
    names.join(".")
}

/// Whether the line is needed to ask about the setting: it is in the same section, or about the same provider.
fn is_near(name: &str, line: &str) -> bool {
    let length = if name.starts_with("providers.") { 2 } else { 1 };
    name.split('.').take(length).eq(line.split('.').take(length))
}

fn about_a_text(sentence: &str) -> String {
    let sentence =
        sentence.strip_prefix("\"?\" ").map_or_else(|| sentence.to_owned(), |rest| format!("it {rest}"));
    format!("refuses `?`: {sentence}")
}

/// The other settings of a small section, which are required as soon as one of them is set.
fn siblings(key: &Key, all: &[Key]) -> Lines {
    let section = &key.path[..key.path.len() - 1];
    if section.len() <= key.heading || key.is_alternative {
        return Vec::new();
    }
    let others = all.iter().filter(|other| other.path != key.path && other.path.starts_with(section));
    let values = others.filter_map(|other| match &other.default {
        Unset::Value(value) => Some((dotted(&other.path), value.clone())),
        Unset::Required | Unset::Absent => None,
    });
    values.collect()
}

/// The last number that passes on the way from one that passes to one that does not.
fn boundary(mut passing: u64, mut refused: u64, passes: impl Fn(u64) -> bool) -> u64 {
    while passing.abs_diff(refused) > 1 {
        let between = passing.midpoint(refused);
        if passes(between) {
            passing = between;
        } else {
            refused = between;
        }
    }
    passing
}
