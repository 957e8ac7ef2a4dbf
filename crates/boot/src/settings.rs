//! Settings: a TOML file, overridden by the environment, read once into the types that the rooms own.
//!
//! A wrong setting stops a binary before it does anything, with a sentence that says which one it is and
//! where to set it. Values are never repeated in it: they may be secret.

use std::{
    collections::HashMap,
    fmt,
    path::{Path, PathBuf},
};

use config::{Config, ConfigError, Environment, File, FileFormat};
use serde::de::DeserializeOwned;
use thiserror::Error;

const PREFIX: &str = "VENDGATE";
const SEPARATOR: &str = "__";

/// Why the settings cannot be used.
#[derive(Debug, Error)]
pub enum SettingsError {
    /// There is no such file, or it is not TOML.
    #[error("the settings cannot be read: {what}")]
    Unreadable {
        /// What the file system or the parser said, with the file's name.
        what: String,
    },
    /// A setting without which the binary cannot run.
    #[error("the setting `{key}` is missing; {}", Remedy { key, file: file.as_deref() })]
    Missing {
        /// Its full name, such as `store.url`.
        key: String,
        /// The settings file in use.
        file: Option<PathBuf>,
    },
    /// A setting that is there and cannot be.
    #[error("the setting `{key}` is wrong: {what}; {}", Remedy { key, file: file.as_deref() })]
    Wrong {
        /// Its full name, such as `store.url`, or that of its section.
        key: String,
        /// What is wrong with it.
        what: String,
        /// The settings file in use.
        file: Option<PathBuf>,
    },
}

/// Reads `T` from `file`, if there is one, and then from the environment, which wins.
///
/// The setting `url` of the section `store` is the variable `VENDGATE__STORE__URL`. Texts from the
/// environment become numbers and booleans where `T` wants those. `T` should refuse unknown fields, so that
/// a misspelt name is an error and not a default.
pub fn load<T: DeserializeOwned>(file: Option<&Path>) -> Result<T, SettingsError> {
    load_with(file, None)
}

/// `environment` stands in for the process's own, if given.
fn load_with<T: DeserializeOwned>(
    file: Option<&Path>,
    environment: Option<HashMap<String, String>>,
) -> Result<T, SettingsError> {
    let mut sources = Config::builder();
    if let Some(file) = file {
        sources = sources.add_source(File::from(file).format(FileFormat::Toml));
    }
    let variables = Environment::with_prefix(PREFIX).separator(SEPARATOR).source(environment);
    let values = sources.add_source(variables).build();
    let values = values.map_err(|error| SettingsError::Unreadable { what: error.to_string() })?;
    values.try_deserialize().map_err(|error| explain(error, file))
}

fn explain(error: ConfigError, file: Option<&Path>) -> SettingsError {
    let file = file.map(Path::to_owned);
    if let ConfigError::NotFound(key) = error {
        return SettingsError::Missing { key, file };
    }
    let (key, what) = key_and_complaint(error);
    // The whole, where no part is to blame.
    let key = key.unwrap_or_else(|| ".".to_owned());
    SettingsError::Wrong { key, what, file }
}

/// What the setting should have been, not what it is.
fn key_and_complaint(error: ConfigError) -> (Option<String>, String) {
    if let ConfigError::Type { key, expected, .. } = error {
        return (key, format!("{expected} is expected"));
    }
    if let ConfigError::At { key, error, .. } = error {
        let (inner, what) = key_and_complaint(*error);
        return (key.or(inner), what);
    }
    (None, error.to_string())
}

/// Where to set the setting `key`.
struct Remedy<'a> {
    key: &'a str,
    file: Option<&'a Path>,
}

impl fmt::Display for Remedy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let variable = self.key.replace('.', SEPARATOR).to_uppercase();
        write!(f, "set it by {PREFIX}{SEPARATOR}{variable} in the environment or ")?;
        match self.key.rsplit_once('.') {
            Some((section, name)) => write!(f, "as `{name}` under [{section}] in ")?,
            None => write!(f, "as `{}` in ", self.key)?,
        }
        match self.file {
            Some(file) => write!(f, "{}", file.display()),
            None => write!(f, "a settings file (none was given)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{ffi::OsStr, fs};

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Shop {
        name: String,
        till: Till,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Till {
        port: u16,
        pin: String,
        #[serde(default)]
        open: bool,
    }

    fn load_from(toml: &str, environment: &[(&str, &str)]) -> Result<Shop, String> {
        static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let file = std::env::temp_dir().join(format!("boot-settings-{}-{number}.toml", std::process::id()));
        fs::write(&file, toml).unwrap();
        let environment = environment.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let loaded = load_with(Some(&file), Some(environment.collect()));
        fs::remove_file(&file).unwrap();
        // The parser names a file relative to wherever the test runs.
        let name = file.file_name().and_then(OsStr::to_str).unwrap();
        let in_short =
            |text: String| text.replace(&file.display().to_string(), "shop.toml").replace(name, "shop.toml");
        loaded.map_err(|error| in_short(error.to_string()))
    }

    #[test]
    fn the_environment_wins_over_the_file_and_keeps_the_zeros_of_a_text() {
        let toml = "name = \"Kgosi\"\n[till]\nport = 80\npin = \"1234\"\n";
        let environment = [
            ("VENDGATE__TILL__PORT", "8080"),
            ("VENDGATE__TILL__PIN", "0071"),
            ("VENDGATE__TILL__OPEN", "true"),
            ("VENDGATE_SWEEP", "not a setting"),
        ];
        let expected =
            Shop { name: "Kgosi".into(), till: Till { port: 8080, pin: "0071".into(), open: true } };
        assert_eq!(load_from(toml, &environment), Ok(expected));
    }

    #[test]
    fn a_missing_setting_is_named_with_both_places_to_set_it() {
        assert_eq!(
            load_from("name = \"Kgosi\"\n[till]\nport = 80\n", &[]).unwrap_err(),
            "the setting `till.pin` is missing; set it by VENDGATE__TILL__PIN in the environment \
             or as `pin` under [till] in shop.toml"
        );
        assert_eq!(
            load_from("", &[]).unwrap_err(),
            "the setting `name` is missing; set it by VENDGATE__NAME in the environment or as `name` in shop.toml"
        );
    }

    #[test]
    fn a_wrong_setting_is_named_without_repeating_what_may_be_secret() {
        let wrong =
            load_from("name = \"Kgosi\"\n[till]\nport = \"hunter2\"\npin = \"1\"\n", &[]).unwrap_err();
        assert_eq!(
            wrong,
            "the setting `till.port` is wrong: an integer is expected; set it by VENDGATE__TILL__PORT \
             in the environment or as `port` under [till] in shop.toml"
        );
    }

    #[test]
    fn a_number_that_does_not_fit_is_wrong() {
        let wrong = load_from("name = \"Kgosi\"\n[till]\nport = 65536\npin = \"1\"\n", &[]).unwrap_err();
        assert!(wrong.starts_with("the setting `till.port` is wrong: "), "{wrong}");
    }

    #[test]
    fn a_misspelt_setting_is_an_error_and_not_a_default() {
        let wrong =
            load_from("name = \"Kgosi\"\n[till]\nport = 80\npin = \"1\"\nopne = true\n", &[]).unwrap_err();
        assert!(wrong.starts_with("the setting `till"), "{wrong}");
        assert!(wrong.contains("unknown field `opne`"), "{wrong}");
    }

    #[test]
    fn a_file_that_is_not_there_or_not_toml_is_named() {
        let absent =
            load_with::<Shop>(Some(Path::new("/no/such/shop.toml")), Some(HashMap::new())).unwrap_err();
        assert!(absent.to_string().contains("/no/such/shop.toml"), "{absent}");
        let garbage = load_from("name = = 1", &[]).unwrap_err();
        assert!(garbage.starts_with("the settings cannot be read: "), "{garbage}");
        assert!(garbage.contains("shop.toml"), "{garbage}");
    }

    #[test]
    fn settings_may_come_from_the_environment_alone() {
        let environment =
            [("VENDGATE__NAME", "Kgosi"), ("VENDGATE__TILL__PORT", "80"), ("VENDGATE__TILL__PIN", "1")];
        let environment = environment.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let shop: Shop = load_with(None, Some(environment.into())).unwrap();
        assert_eq!(shop.till.port, 80);
        let error = load_with::<Shop>(None, Some(HashMap::new())).unwrap_err();
        assert!(error.to_string().ends_with("as `name` in a settings file (none was given)"), "{error}");
    }
}
