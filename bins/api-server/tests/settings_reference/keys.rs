//! Every key that can be set, found by following the declarations from the struct of a whole settings file.

use std::collections::HashMap;

use crate::{
    shown,
    source::{Declaration, Field, Section, Shape, Variant},
};

/// A part of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Named(String),
    /// A name that the operator chooses.
    Chosen,
    /// An entry of a list.
    Entry,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    Integer { max: u64 },
    Truth,
    Text,
    Secret,
    Words(Vec<(String, String)>),
    Texts,
    Integers(usize),
}

/// One setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub path: Vec<Step>,
    /// How much of the path is the heading under which the page lists it.
    pub heading: usize,
    pub kind: Kind,
    pub meaning: String,
    pub default: Unset,
    /// Whether it is set instead of another setting.
    pub is_alternative: bool,
}

/// The value of a setting that is not set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unset {
    /// There is none: it must be set, or at least if another setting of its section is set.
    Required,
    /// It is simply absent.
    Absent,
    /// As `Debug` shows it.
    Value(String),
}

/// A heading of the page, and what its declarations say about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    pub path: Vec<Step>,
    pub meaning: String,
}

/// The settings of one program.
pub struct Keys<'a> {
    declarations: &'a HashMap<String, Declaration>,
    pub headings: Vec<Heading>,
    pub all: Vec<Key>,
}

/// Where the walk is.
#[derive(Clone, Default)]
struct Place<'a> {
    path: Vec<Step>,
    heading: usize,
    /// The default of this place, as `Debug` shows it.
    shown: Option<&'a str>,
    has_default: bool,
    /// What is said about the section around it, if that has no heading.
    about: String,
}

impl<'a> Keys<'a> {
    /// All keys below the struct `root`, with the defaults in the text that `Debug` wrote about it.
    pub fn of(declarations: &'a HashMap<String, Declaration>, root: &str, shown: &str) -> Self {
        let top = Heading { path: Vec::new(), meaning: String::new() };
        let mut keys = Self { declarations, headings: vec![top], all: Vec::new() };
        let place = Place { shown: Some(shown), ..Place::default() };
        keys.section(&keys.struct_named(root), &place);
        keys
    }

    /// All keys of the section `name`, which the struct `declared` declares, and which has no defaults.
    pub fn of_section(declarations: &'a HashMap<String, Declaration>, declared: &str, name: &str) -> Self {
        let mut keys = Self { declarations, headings: Vec::new(), all: Vec::new() };
        let place = Place { path: vec![Step::Named(name.to_owned())], ..Place::default() };
        keys.titled(&keys.struct_named(declared), "", place);
        keys
    }

    fn struct_named(&self, name: &str) -> Section {
        let Some(Declaration::Section(section)) = self.declarations.get(name) else {
            panic!("{name} is no struct")
        };
        section.clone()
    }

    fn section(&mut self, section: &Section, place: &Place<'_>) {
        for field in &section.fields {
            assert!(
                !field.meaning.is_empty(),
                "the setting {} has no documentation: say what it means",
                field.name
            );
            let mut inner = place.clone();
            inner.path.push(Step::Named(field.name.clone()));
            inner.has_default = field.has_default || place.has_default && place.shown.is_some();
            inner.shown = place.shown.and_then(|shown| shown::field(shown, &field.name));
            if !matches!(&field.of, Shape::Optional(of) if is_named(of, "IgnoredAny")) {
                self.value(&field.of, field, &inner);
            }
        }
    }

    fn value(&mut self, of: &Shape, field: &Field, place: &Place<'_>) {
        match of {
            Shape::Optional(of) => {
                // A section that may be absent has its own heading: its required settings are required within it.
                let place = Place { has_default: false, ..place.clone() };
                match self.declared(of) {
                    Some(Declaration::Section(section)) => self.titled(&section, &field.meaning, place),
                    _ => self.leaf(of, field, &place, Unset::Absent),
                }
            }
            Shape::ByName(of) => {
                let mut place = Place { has_default: false, ..place.clone() };
                place.path.push(Step::Chosen);
                let Some(Declaration::Choice(variants)) = self.declared(of) else {
                    panic!("{} holds what this test cannot read", field.name)
                };
                self.variants(&variants, field, &place);
            }
            Shape::List(inner) => match self.declared(inner) {
                Some(Declaration::Section(section)) => {
                    let mut path = place.path.clone();
                    path.push(Step::Entry);
                    let place = Place { path, shown: None, has_default: false, ..place.clone() };
                    self.titled(&section, &field.meaning, place);
                }
                _ => self.leaf(of, field, place, default(place)),
            },
            Shape::Several(..) => self.leaf(of, field, place, default(place)),
            Shape::Named(_) => match self.declared(of) {
                Some(Declaration::Section(section)) if place.path.len() == 1 => {
                    self.titled(&section, &field.meaning, place.clone());
                }
                Some(Declaration::Section(section)) => {
                    let about = format!("{}{} ", place.about, field.meaning);
                    self.section(&section, &Place { about, ..place.clone() });
                }
                Some(Declaration::Choice(variants)) if variants.iter().any(|one| one.holds.is_some()) => {
                    self.variants(&variants, field, place);
                }
                _ => self.leaf(of, field, place, default(place)),
            },
        }
    }

    /// One of several names, each with a value of its own.
    fn variants(&mut self, variants: &[Variant], field: &Field, place: &Place<'_>) {
        for variant in variants {
            let Some(of) = &variant.holds else { panic!("{} has a variant without a value", field.name) };
            let mut inner = place.clone();
            inner.path.push(Step::Named(variant.name.clone()));
            if let Some(Declaration::Section(section)) = self.declared(of) {
                let begins = format!("{}(", variant.rust_name);
                inner.shown = place.shown.and_then(|shown| shown.get(shown.find(&begins)?..));
                self.titled(&section, &variant.meaning, inner);
            } else {
                let meaning = format!("{} {}", field.meaning, variant.meaning);
                let field = Field { meaning, ..field.clone() };
                self.leaf(of, &field, &inner, Unset::Required);
                self.all.last_mut().unwrap().is_alternative = true;
            }
        }
    }

    fn titled(&mut self, section: &Section, meaning: &str, mut place: Place<'_>) {
        place.heading = place.path.len();
        place.about.clear();
        let own = if meaning == section.meaning { "" } else { &section.meaning };
        let meaning = format!("{meaning} {own}");
        self.headings.push(Heading { path: place.path.clone(), meaning: meaning.trim().to_owned() });
        self.section(section, &place);
    }

    fn leaf(&mut self, of: &Shape, field: &Field, place: &Place<'_>, default: Unset) {
        let kind = self.kind(of, &field.name);
        let default = match (&kind, default) {
            (Kind::Words(words), Unset::Value(shown)) => Unset::Value(self.word(of, words, shown)),
            (_, default) => default,
        };
        let meaning = format!("{}{}", place.about, field.meaning);
        let (path, heading) = (place.path.clone(), place.heading);
        self.all.push(Key { path, heading, kind, meaning, default, is_alternative: false });
    }

    /// The name in a settings file of the variant that `Debug` shows.
    fn word(&self, of: &Shape, words: &[(String, String)], shown: String) -> String {
        let Some(Declaration::Choice(variants)) = self.declared(of) else { return shown };
        let place = variants.iter().position(|variant| variant.rust_name == shown);
        place.and_then(|place| words.get(place)).map_or(shown, |(word, _)| format!("{word:?}"))
    }

    fn kind(&self, of: &Shape, field: &str) -> Kind {
        match of {
            Shape::List(of) if is_named(of, "String") => Kind::Texts,
            Shape::Several(number) => Kind::Integers(*number),
            Shape::Named(name) => match name.as_str() {
                "bool" => Kind::Truth,
                "u16" => Kind::Integer { max: u16::MAX.into() },
                "u32" => Kind::Integer { max: u32::MAX.into() },
                "i32" => Kind::Integer { max: i32::MAX.unsigned_abs().into() },
                // A number in TOML is at most this.
                "u64" | "usize" => Kind::Integer { max: i64::MAX.unsigned_abs() },
                "String" | "Url" | "Tz" | "Mailbox" | "SocketAddr" => Kind::Text,
                "SecretString" => Kind::Secret,
                _ => match self.declarations.get(name) {
                    Some(Declaration::Choice(variants)) => {
                        let words = variants.iter().map(|one| (one.name.clone(), one.meaning.clone()));
                        Kind::Words(words.collect())
                    }
                    _ => panic!("{field} is a {name}: add the file that declares it to FILES"),
                },
            },
            _ => panic!("{field} has a type that this test cannot read"),
        }
    }

    fn declared(&self, of: &Shape) -> Option<Declaration> {
        let Shape::Named(name) = of else { return None };
        self.declarations.get(name).cloned()
    }
}

fn is_named(of: &Shape, expected: &str) -> bool {
    matches!(of, Shape::Named(name) if name == expected)
}

fn default(place: &Place<'_>) -> Unset {
    match (place.has_default, place.shown) {
        (true, Some(shown)) => Unset::Value(shown.to_owned()),
        (true, None) => panic!("no default is shown for {:?}: let Debug show it", place.path),
        (false, _) => Unset::Required,
    }
}
