//! Settings: a TOML file, overridden by the environment, read once into the types that the crates own.
//!
//! A binary with wrong settings stops before it does anything. It prints one line that names every mistake and where to
//! correct it. Values are never repeated in it: they may be secret.

mod collections;
mod fault;
mod mistake;
mod node;
mod parts;
mod placeholder;
mod reader;
mod review;

use std::{
    collections::HashMap,
    fmt,
    path::{Path, PathBuf},
};

use config::{Config, Environment, File, FileFormat};
use serde::de::DeserializeOwned;
use thiserror::Error;

pub use mistake::{Mistake, MistakeKind};
pub use review::Review;

/// The argument with which a program only checks its settings.
pub const CHECK_SETTINGS: &str = "--check-settings";

/// Says that the settings are valid, to the operator who asked with [`CHECK_SETTINGS`].
#[expect(clippy::print_stdout, reason = "the operator reads the result there")]
pub fn say_settings_are_valid() {
    println!("the settings are valid");
}

/// Why the settings cannot be used.
#[derive(Debug, Error)]
pub enum SettingsError {
    /// The file does not exist, or it is not TOML.
    #[error("the settings cannot be read: {what}")]
    Unreadable {
        /// What the file system or the parser reported, with the name of the file.
        what: String,
    },
    /// Settings are missing, unknown or not valid.
    #[error("{}", Sentence { mistakes, file: file.as_deref() })]
    Mistaken {
        /// All mistakes, in the order of the keys. There is at least one.
        mistakes: Vec<Mistake>,
        /// The settings file in use.
        file: Option<PathBuf>,
    },
}

/// Reads `T` from `file`, if it is given, and then from the environment, which takes precedence.
///
/// The setting `url` of the section `store` is the variable `VENDGATE__STORE__URL`. Texts from the environment become
/// numbers and booleans where `T` needs them. `T` should refuse unknown fields, so that a misspelt name is an error and
/// not a default.
///
/// # Errors
/// When the file cannot be read. Otherwise with all mistakes at once: unknown settings, missing settings, and settings
/// of a wrong type.
pub fn load<T: DeserializeOwned>(file: Option<&Path>) -> Result<T, SettingsError> {
    load_checked(file, |_settings, _review| ())
}

/// Like [`load`], with the rules that types cannot express. `check` reviews every section. A section that already has a
/// mistake is skipped, because its wrong values have been replaced by stand-ins.
///
/// # Errors
/// As [`load`], and with all that `check` found in addition.
pub fn load_checked<T: DeserializeOwned>(
    file: Option<&Path>,
    check: impl FnOnce(&T, &mut Review),
) -> Result<T, SettingsError> {
    load_with(file, None, None, check)
}

/// Like [`load`], from only these settings and sections, named as `providers.bpc`. What else there is can be wrong.
///
/// # Errors
/// As [`load`].
pub fn load_parts<T: DeserializeOwned>(file: Option<&Path>, parts: &[&str]) -> Result<T, SettingsError> {
    load_with(file, None, Some(parts), |_settings, _review| ())
}

/// `environment` replaces the environment of the process, if given.
fn load_with<T: DeserializeOwned>(
    file: Option<&Path>,
    environment: Option<HashMap<String, String>>,
    parts: Option<&[&str]>,
    check: impl FnOnce(&T, &mut Review),
) -> Result<T, SettingsError> {
    let mut sources = Config::builder();
    if let Some(file) = file {
        sources = sources.add_source(File::from(file).format(FileFormat::Toml));
    }
    let variables =
        Environment::with_prefix(mistake::PREFIX).separator(mistake::SEPARATOR).source(environment);
    let values = sources.add_source(variables).build();
    let values =
        values.map_err(|error| SettingsError::Unreadable { what: in_one_line(&error.to_string()) })?;
    let kept = parts.map(|parts| parts::only(&values.cache, parts));
    let tree = kept.as_ref().unwrap_or(&values.cache);
    let (settings, mistakes) = reader::read(tree);
    let mut review = Review::after(mistakes);
    if let Some(settings) = &settings {
        check(settings, &mut review);
    }
    review.placeholders(placeholder::keys(tree));
    match (settings, review.finish()) {
        (Some(settings), mistakes) if mistakes.is_empty() => Ok(settings),
        (_, mistakes) => Err(SettingsError::Mistaken { mistakes, file: file.map(Path::to_owned) }),
    }
}

/// Puts a parser message on one line, without the lines that quote the source (after a line number and a bar): they may
/// contain a secret.
fn in_one_line(complaint: &str) -> String {
    let is_quoted = |line: &&str| {
        line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit()).trim_start().starts_with('|')
    };
    let said = complaint.lines().filter(|line| !is_quoted(line)).map(str::trim);
    said.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(": ")
}

/// All mistakes on one line, with where to correct them.
struct Sentence<'a> {
    mistakes: &'a [Mistake],
    file: Option<&'a Path>,
}

impl fmt::Display for Sentence<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mistakes {
            [] => write!(out, "the settings cannot be used"),
            [only] => {
                write!(out, "the setting {only}; ")?;
                if let MistakeKind::Unknown(_) = only.kind {
                    write!(out, "take it out of the environment ({}) or out of ", only.variable())?;
                    return self.file(out);
                }
                write!(out, "set it by {} in the environment or ", only.variable())?;
                match only.key.rsplit_once('.') {
                    Some((section, name)) => write!(out, "as `{name}` under [{section}] in ")?,
                    None => write!(out, "as `{}` in ", only.key)?,
                }
                self.file(out)
            }
            [first, ..] => {
                let is_set = |mistake: &&Mistake| !matches!(mistake.kind, MistakeKind::Unknown(_));
                let example = self.mistakes.iter().find(is_set).unwrap_or(first);
                write!(out, "{} settings must be corrected in ", self.mistakes.len())?;
                self.file(out)?;
                write!(out, ", or in the environment (`{}` is {} there): ", example.key, example.variable())?;
                let all: Vec<String> = self.mistakes.iter().map(ToString::to_string).collect();
                out.write_str(&all.join("; "))
            }
        }
    }
}

impl Sentence<'_> {
    fn file(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.file {
            Some(file) => write!(out, "{}", file.display()),
            None => write!(out, "a settings file (none was given)"),
        }
    }
}

#[cfg(test)]
mod tests;
