//! Parts of a tree of settings, for a program that needs nothing of the rest.

use config::{Map, Value, ValueKind};

/// The tree with only these settings and sections, named as `providers.bpc`. What does not exist is left out.
pub(super) fn only(tree: &Value, parts: &[&str]) -> Value {
    let mut kept = section();
    for part in parts {
        let found = part.split('.').try_fold(tree, |section, name| {
            let ValueKind::Table(table) = &section.kind else { return None };
            table.get(name)
        });
        if let Some(found) = found {
            insert(&mut kept, part, found);
        }
    }
    kept
}

fn insert(into: &mut Value, part: &str, value: &Value) {
    let ValueKind::Table(table) = &mut into.kind else { return };
    match part.split_once('.') {
        Some((name, rest)) => insert(table.entry(name.to_owned()).or_insert_with(section), rest, value),
        None => drop(table.insert(part.to_owned(), value.clone())),
    }
}

fn section() -> Value {
    Value::new(None, ValueKind::Table(Map::new()))
}
