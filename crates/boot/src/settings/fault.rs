//! Why one reading of the settings stopped, and at which value.

use std::fmt;

use serde::de;

/// The error of the deserializer. Values are never repeated in it: they may be secret.
#[derive(Debug, thiserror::Error)]
#[error("{why}")]
pub(super) struct Fault {
    pub(super) why: Why,
    /// Set by the innermost value through which the error is returned.
    pub(super) place: Option<Place>,
}

/// The value at which a reading stopped.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The full name of the value, such as `store.pool_size`.
    pub(super) key: String,
    /// Whether a mistake is already noted for this value, or for a section around it.
    pub(super) is_silent: bool,
}

/// Why a reading stopped.
#[derive(Debug, thiserror::Error)]
pub(super) enum Why {
    /// The struct at this place lacks a required field.
    #[error("the field is missing")]
    Missing(&'static str),
    /// The struct around this place has no such field. These are the fields that it has.
    #[error("the field is unknown")]
    Unknown(&'static [&'static str]),
    /// The value is not valid. The text says what is expected.
    #[error("{0}")]
    Wrong(String),
}

impl Fault {
    pub(super) fn wrong(what: impl Into<String>) -> Self {
        Self { why: Why::Wrong(what.into()), place: None }
    }

    /// The same, located here, unless it is already located further inside.
    pub(super) fn at(mut self, key: &str, is_silent: bool) -> Self {
        self.place.get_or_insert_with(|| Place { key: key.to_owned(), is_silent });
        self
    }
}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(what: T) -> Self {
        Self::wrong(what.to_string())
    }

    fn invalid_type(_found: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::wrong(format!("{expected} is expected"))
    }

    fn invalid_value(_found: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::wrong(format!("{expected} is expected"))
    }

    fn invalid_length(_found: usize, expected: &dyn de::Expected) -> Self {
        Self::wrong(format!("{expected} is expected"))
    }

    fn unknown_variant(_found: &str, expected: &'static [&'static str]) -> Self {
        Self::wrong(one_of(expected))
    }

    fn unknown_field(_found: &str, expected: &'static [&'static str]) -> Self {
        Self { why: Why::Unknown(expected), place: None }
    }

    fn missing_field(field: &'static str) -> Self {
        Self { why: Why::Missing(field), place: None }
    }
}

/// The text that names what an enumeration expects.
pub(super) fn one_of(names: &[&str]) -> String {
    match names {
        [only] => format!("{only} is expected"),
        _ => format!("one of {} is expected", names.join(", ")),
    }
}
