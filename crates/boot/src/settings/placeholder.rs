//! Placeholders in a settings file that were not replaced. A program that started with one would have a password that
//! everyone can read in the documents.

use config::{Value, ValueKind};

use super::reader::child_key;

/// What the documents write where a secret belongs, in any case of its letters.
pub(super) const PLACEHOLDER: &str = "CHANGE-ME";

/// The full names of all texts that contain the placeholder, in the sections of other programs too.
pub(super) fn keys(tree: &Value) -> Vec<String> {
    let mut found = Vec::new();
    search(tree, "", &mut found);
    found.sort();
    found
}

fn search(value: &Value, key: &str, found: &mut Vec<String>) {
    match &value.kind {
        ValueKind::String(text) if text.to_uppercase().contains(PLACEHOLDER) => found.push(key.to_owned()),
        ValueKind::Table(table) => {
            for (name, inner) in table {
                search(inner, &child_key(key, name), found);
            }
        }
        ValueKind::Array(items) => {
            for (place, inner) in items.iter().enumerate() {
                search(inner, &format!("{key}[{place}]"), found);
            }
        }
        ValueKind::String(_)
        | ValueKind::Nil
        | ValueKind::Boolean(_)
        | ValueKind::I64(_)
        | ValueKind::I128(_)
        | ValueKind::U64(_)
        | ValueKind::U128(_)
        | ValueKind::Float(_) => (),
    }
}
