//! The members of a JSON object as they were written. Each key occurs once, at every depth.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use messages::Detail;

use super::broken::not_json;
use crate::ApiError;

/// No request of ours is nested. Ignored fields may be nested, up to this depth.
const DEPTH_MAX: usize = 16;

/// The members of the object that `body` is.
pub(super) fn of_object(body: &[u8]) -> Result<Vec<(String, Box<RawValue>)>, ApiError> {
    let whole: &RawValue = serde_json::from_slice(body).map_err(|cause| not_json(body, &cause))?;
    if !whole.get().starts_with('{') {
        return Err(ApiError::new(Detail::NotAnObject));
    }
    let members = read_object(whole)?;
    for (_, value) in &members {
        refuse_repeated_keys(value, 1)?;
    }
    Ok(members.into_iter().map(|(key, value)| (key, value.to_owned())).collect())
}

fn refuse_repeated_keys(value: &RawValue, depth: usize) -> Result<(), ApiError> {
    let inner: Vec<&RawValue> = if value.get().starts_with('{') {
        read_object(value)?.into_iter().map(|(_, value)| value).collect()
    } else if value.get().starts_with('[') {
        serde_json::from_str(value.get()).map_err(|cause| not_json(value.get().as_bytes(), &cause))?
    } else {
        return Ok(());
    };
    if depth >= DEPTH_MAX {
        return Err(ApiError::new(Detail::TooDeep).with("limit", DEPTH_MAX));
    }
    inner.into_iter().try_for_each(|value| refuse_repeated_keys(value, depth.saturating_add(1)))
}

fn read_object(value: &RawValue) -> Result<Vec<(String, &RawValue)>, ApiError> {
    let members: Members<'_> =
        serde_json::from_str(value.get()).map_err(|cause| not_json(value.get().as_bytes(), &cause))?;
    match members.repeated {
        Some(key) => Err(ApiError::new(Detail::RepeatedKey).about(printable(&key))),
        None => Ok(members.entries),
    }
}

/// A name that is the integrator's own text and appears in the answer, without invisible characters and not too long.
pub fn printable(key: &str) -> String {
    key.chars().filter(|character| super::Use::Name.allows(*character)).take(64).collect()
}

struct Members<'body> {
    entries: Vec<(String, &'body RawValue)>,
    repeated: Option<String>,
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Members { entries: Vec::new(), repeated: None };
        let mut seen = std::collections::HashSet::new();
        while let Some((key, value)) = map.next_entry::<String, &RawValue>()? {
            if !seen.insert(key.clone()) {
                members.repeated.get_or_insert_with(|| key.clone());
            }
            members.entries.push((key, value));
        }
        Ok(members)
    }
}
