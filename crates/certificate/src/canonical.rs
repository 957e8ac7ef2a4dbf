//! The one way to write a JSON value (RFC 8785), without fractions.

use serde::Serialize;
use serde_json::{Map, Number, Value};

/// The largest whole number up to which every one is exact in a double, which is what JSON has (RFC 7493, section 2.2).
const EXACT_MAX: u64 = (1 << 53) - 1;

/// Why a value has no canonical form here.
#[derive(Debug, thiserror::Error)]
pub enum NotCanonical {
    /// A number is a fraction, or so large that it is not exact as a double. An amount is a text.
    #[error("{0} is no exact whole number in JSON")]
    Inexact(Number),
    /// A name in it is no text.
    #[error("the value cannot be written in JSON")]
    Unwritable(#[from] serde_json::Error),
}

/// The canonical form of a value: sorted names, no blanks, one form of each text and whole number.
pub fn canonical_json(value: &impl Serialize) -> Result<String, NotCanonical> {
    let mut out = String::new();
    write(&serde_json::to_value(value)?, &mut out)?;
    Ok(out)
}

fn write(value: &Value, out: &mut String) -> Result<(), NotCanonical> {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => {
            let is_exact = number.as_i64().is_some_and(|whole| whole.unsigned_abs() <= EXACT_MAX);
            if !is_exact {
                return Err(NotCanonical::Inexact(number.clone()));
            }
            out.push_str(&number.to_string());
        }
        Value::String(text) => write_text(text, out)?,
        Value::Array(items) => {
            out.push('[');
            for (position, item) in items.iter().enumerate() {
                separate(position, out);
                write(item, out)?;
            }
            out.push(']');
        }
        Value::Object(members) => write_object(members, out)?,
    }
    Ok(())
}

/// Names are sorted by their UTF-16 units (section 3.2.3), which differs from the order of their bytes beyond the Basic Multilingual
/// Plane.
fn write_object(members: &Map<String, Value>, out: &mut String) -> Result<(), NotCanonical> {
    let mut sorted: Vec<_> = members.iter().collect();
    sorted.sort_by(|(one, _), (other, _)| one.encode_utf16().cmp(other.encode_utf16()));
    out.push('{');
    for (position, (name, value)) in sorted.into_iter().enumerate() {
        separate(position, out);
        write_text(name, out)?;
        out.push(':');
        write(value, out)?;
    }
    out.push('}');
    Ok(())
}

/// `serde_json` escapes what section 3.2.2.2 escapes, in the same way, and nothing else.
fn write_text(text: &str, out: &mut String) -> Result<(), NotCanonical> {
    out.push_str(&serde_json::to_string(text)?);
    Ok(())
}

fn separate(position: usize, out: &mut String) {
    if position > 0 {
        out.push(',');
    }
}
