//! The members of a JSON object as they were written. Each key occurs once, at every depth.

use std::{borrow::Cow, collections::HashSet, fmt, ops::Range};

use serde::{
    Deserialize,
    de::{Deserializer, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use messages::Detail;

use super::broken::not_json;
use crate::ApiError;

/// No request of ours is nested. Ignored fields may be nested, up to this depth.
const DEPTH_MAX: usize = 16;

/// More members than any request of ours has. They are compared with each other, and the members of a larger object are
/// hashed.
const FEW: usize = 32;

/// The members of an object, as places in its text.
pub(super) struct Members {
    text: String,
    places: Vec<(Name, Range<usize>)>,
}

/// The name of a member.
enum Name {
    /// As it is written in the text.
    Written(Range<usize>),
    /// It is written with escapes.
    Escaped(String),
}

impl Members {
    /// The members of the object that `body` is.
    pub(super) fn of_object(body: &[u8]) -> Result<Self, ApiError> {
        let whole: &RawValue = serde_json::from_slice(body).map_err(|cause| not_json(body, &cause))?;
        let text = whole.get();
        if !text.starts_with('{') {
            return Err(ApiError::new(Detail::NotAnObject));
        }
        let members = read_object(whole)?;
        for (_, value) in &members {
            refuse_repeated_keys(value, 1)?;
        }
        let places = members.into_iter().map(|(name, value)| {
            let name = match name {
                Cow::Borrowed(name) => Name::Written(place_of(name, text)),
                Cow::Owned(name) => Name::Escaped(name),
            };
            (name, place_of(value.get(), text))
        });
        Ok(Self { places: places.collect(), text: text.to_owned() })
    }

    /// The value of this member, as it is written.
    pub(super) fn find(&self, name: &str) -> Option<&str> {
        let (_, value) = self.places.iter().find(|(known, _)| self.name(known) == name)?;
        self.text.get(value.clone())
    }

    /// The names of all members.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.places.iter().map(|(name, _)| self.name(name))
    }

    fn name<'a>(&'a self, name: &'a Name) -> &'a str {
        match name {
            Name::Written(place) => self.text.get(place.clone()).unwrap_or_default(),
            Name::Escaped(name) => name,
        }
    }
}

/// The place of a part in the text that it was borrowed from.
fn place_of(part: &str, text: &str) -> Range<usize> {
    let begins = part.as_ptr().addr().saturating_sub(text.as_ptr().addr());
    begins..begins.saturating_add(part.len())
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

fn read_object(value: &RawValue) -> Result<Vec<(Cow<'_, str>, &RawValue)>, ApiError> {
    let members: Read<'_> =
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

struct Read<'body> {
    entries: Vec<(Cow<'body, str>, &'body RawValue)>,
    repeated: Option<Cow<'body, str>>,
}

/// A key, which is copied only if it is written with escapes.
#[derive(Deserialize)]
struct Key<'body>(#[serde(borrow)] Cow<'body, str>);

impl<'de> Deserialize<'de> for Read<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Read<'de>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut read = Read { entries: Vec::with_capacity(FEW / 2), repeated: None };
        let mut seen = HashSet::new();
        while let Some((Key(key), value)) = map.next_entry::<Key<'de>, &RawValue>()? {
            let is_repeated = if read.entries.len() < FEW {
                read.entries.iter().any(|(known, _)| *known == key)
            } else {
                if seen.is_empty() {
                    seen.extend(read.entries.iter().map(|(known, _)| known.clone()));
                }
                !seen.insert(key.clone())
            };
            if is_repeated {
                read.repeated.get_or_insert_with(|| key.clone());
            }
            read.entries.push((key, value));
        }
        Ok(read)
    }
}
