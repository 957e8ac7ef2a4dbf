//! One thing that is wrong with the settings.

use std::fmt;

/// In the name of an environment variable: separates a section from the names in it.
pub(super) const SEPARATOR: &str = "__";
pub(super) const PREFIX: &str = "VENDGATE";

/// One thing that is wrong with the settings. Never repeats a value, which may be secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The full name of the setting, such as `store.pool_size`, or that of its section.
    pub key: String,
    /// What is wrong with it.
    pub kind: MistakeKind,
}

/// What is wrong with a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MistakeKind {
    /// It is required.
    Missing,
    /// There is no setting of this name. These are the names in its section.
    Unknown(Vec<String>),
    /// It is not valid. The text says what is expected.
    Wrong(String),
}

impl Mistake {
    pub(super) fn wrong(key: impl Into<String>, what: impl Into<String>) -> Self {
        Self { key: key.into(), kind: MistakeKind::Wrong(what.into()) }
    }

    /// Whether this setting is `section`, or is inside it.
    pub(super) fn is_within(&self, section: &str) -> bool {
        self.key.strip_prefix(section).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    }

    /// The environment variable of this setting.
    pub(super) fn variable(&self) -> String {
        format!("{PREFIX}{SEPARATOR}{}", self.key.replace('.', SEPARATOR).to_uppercase())
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, kind } = self;
        match kind {
            MistakeKind::Missing => write!(out, "`{key}` is missing"),
            MistakeKind::Unknown(known) => {
                write!(out, "`{key}` is unknown: ")?;
                match known.as_slice() {
                    [] => write!(out, "nothing is set here"),
                    known => write!(out, "what can be set here is {}", known.join(", ")),
                }
            }
            MistakeKind::Wrong(what) => write!(out, "`{key}` is wrong: {what}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_lies_within_its_section_and_in_no_other() {
        let mistake = Mistake::wrong("store.keys[2].id", "");
        for section in ["store", "store.keys", "store.keys[2]", "store.keys[2].id"] {
            assert!(mistake.is_within(section), "{section}");
        }
        for section in ["stor", "store.key", "store.keys[2].id.x", "web"] {
            assert!(!mistake.is_within(section), "{section}");
        }
        assert_eq!(Mistake::wrong("store.pool_size", "").variable(), "VENDGATE__STORE__POOL_SIZE");
    }
}
